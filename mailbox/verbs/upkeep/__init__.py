"""Upkeep of the tables: sweep, compaction, roll-ups and imports."""
