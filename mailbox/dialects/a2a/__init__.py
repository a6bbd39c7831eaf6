"""The official A2A protocol, versions 1.0 and 0.3."""
