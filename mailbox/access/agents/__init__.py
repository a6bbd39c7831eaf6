"""Agents: their names, grants, peers, and which of them are open to anyone."""
