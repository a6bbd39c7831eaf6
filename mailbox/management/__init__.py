"""The command line: `manage.py a2a`, and the worker that runs local programs as agents."""
