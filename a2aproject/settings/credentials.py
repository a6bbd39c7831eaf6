"""Settings of the keys that open the hub."""

from __future__ import annotations

from datetime import timedelta

from a2aproject.settings.environment import CENTURY_MS, env

# The longest life of a new API key (0: no limit). The successor of a rotated key starts a new life.
A2A_KEY_MAX_AGE: timedelta = timedelta(milliseconds=env.integer("A2A_KEY_MAX_AGE_MS", 0, least=0, most=CENTURY_MS))
