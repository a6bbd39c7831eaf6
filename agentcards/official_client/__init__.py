"""Client of agents elsewhere that speak the official A2A protocol, 1.0 or 0.3."""
