"""Django's engine for PostgreSQL, except that a read-only server counts as an unavailable one."""
