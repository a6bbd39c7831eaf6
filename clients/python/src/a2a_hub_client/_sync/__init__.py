# Written by clients/python/write_sync.py from _async. Change that folder.
"""The client for threads."""
