"""The edge that no request reaches: timed jobs, the sender of callbacks, the sender of remote tasks."""
