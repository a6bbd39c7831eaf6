# Written by clients/python/generate.py from _async. Change that folder.
"""The client for threads."""
