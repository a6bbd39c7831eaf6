"""Background work: timed jobs, the courier of callbacks and webhooks, and the sender of remote agents' tasks."""
