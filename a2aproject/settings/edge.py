"""Settings of the connections that clients open."""

from __future__ import annotations

from a2aproject.settings.environment import env

# Seconds in which the body of a request must arrive. A slower connection is cut, so that it holds a thread no longer.
A2A_BODY_TIMEOUT_S = env.integer("A2A_BODY_TIMEOUT_S", 30, least=1, most=60)
