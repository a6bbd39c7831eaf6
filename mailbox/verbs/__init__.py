"""Verbs: the decisions about tasks, agents and the hub."""
