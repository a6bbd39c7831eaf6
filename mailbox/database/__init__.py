"""What both databases need beyond the ORM: write turns, prepared statements, paging, waiting, vital signs."""
