"""Who calls, what the caller may do, how often, and what the journal keeps of it."""
