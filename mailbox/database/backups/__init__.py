"""Backups of the whole hub in one file, and how each database is copied and replaced."""
