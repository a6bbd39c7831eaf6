"""Numbers about work: backlogs, troubles, failures, counts over time."""
