"""The ways of carrying a task to a remote agent: one per protocol that such agents speak."""
