"""`manage.py serve`: its processes, the first run, stopping."""
