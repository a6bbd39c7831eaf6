"""Runs local programs as agents: leases tasks over HTTP and runs a program for each. Uses no database.

Source: corvid-agent, sessions and process manager.
"""
