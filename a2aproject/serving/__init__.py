"""`manage.py serve`: its processes, their connections, stopping."""
