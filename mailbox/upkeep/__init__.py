"""Upkeep keeps the hub small and whole: sweep, compaction, roll-ups, seals, backups, imports."""
