"""Agents, their keys, grants, peers and public routes."""
