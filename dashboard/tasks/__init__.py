"""The pages of tasks and of their results."""
