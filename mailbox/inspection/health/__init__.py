"""The health of the hub: a report of checks, and gauges for monitoring."""
