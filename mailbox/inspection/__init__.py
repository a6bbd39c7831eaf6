"""Reads for every edge: lists, one task, trees, search, figures, health. An inspection changes no row."""
