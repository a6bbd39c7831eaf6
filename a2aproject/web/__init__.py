"""The middlewares, error pages and probes."""
