"""The edge for a shell: `manage.py a2a` and the worker that runs local programs."""
