"""Background work: timed jobs, and the senders of callbacks and of remote agents' tasks."""
