"""Local programs as agents: lease tasks over HTTP and run a program for each. Needs no database.

Source: corvid-agent, sessions and process manager.
"""
