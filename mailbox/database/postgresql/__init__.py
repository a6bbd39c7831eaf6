"""Django's engine for PostgreSQL, except that a read-only server counts as an unavailable one."""

DURABLE = ("on", "remote_apply")  # values of synchronous_commit with which a crash loses no acknowledged write
