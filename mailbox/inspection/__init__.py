"""Reads, for every edge: lists, one task, trees, search, figures, health. Nothing here changes a row."""
