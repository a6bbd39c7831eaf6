"""Tools for both databases beside the ORM: write turns, prepared statements, pages, waits and vital signs."""
