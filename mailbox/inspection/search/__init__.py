"""The query language of lists."""
