"""Limits: quotas of what an agent may store, rates of requests, and waits."""
