"""The life of a task: send, lease, update, answer, drain, expire, replay, call back."""
