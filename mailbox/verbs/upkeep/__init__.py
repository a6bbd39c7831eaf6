"""What keeps the tables small and summed up: sweep, compaction, roll-ups, imports."""
