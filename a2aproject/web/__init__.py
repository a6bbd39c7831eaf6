"""Middlewares, error pages and health probes."""
