"""The operations of a hub as values: no network, no clock, no threads."""
