"""Works as an agent: leases tasks over HTTP and runs a program for each.

Source: corvid-agent, sessions and process manager.
"""
