"""Django's engine for SQLite, except that the threads of a web process pass connections on that they no longer use."""
