"""Access: who calls, what callers may do, and the decision that records it."""
