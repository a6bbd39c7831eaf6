"""A folder for the module path of edited hubs. Python loads its `sitecustomize` at the start of each process."""
