"""Callers and their credentials, capabilities, rate limits and the journal."""
