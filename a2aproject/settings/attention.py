"""Settings of what the dashboard's "Needs a decision" and its health checks report."""

from __future__ import annotations

from datetime import timedelta

from a2aproject.settings.environment import CENTURY_MS, env

# An agent whose oldest queued task waits longer takes no work, or falls behind.
A2A_ATTENTION_QUEUED = timedelta(
    milliseconds=env.integer("A2A_ATTENTION_QUEUED_MS", 900_000, least=1_000, most=CENTURY_MS)
)
# So many results of an agent, or of the hub, are errors: at least ERRORS of them, and this share, within the span.
A2A_ATTENTION_ERRORS = env.integer("A2A_ATTENTION_ERRORS", 5, least=1)
A2A_ATTENTION_ERROR_SHARE = env.integer("A2A_ATTENTION_ERROR_SHARE", 25, least=1, most=100)
A2A_ATTENTION_ERRORS_WITHIN = timedelta(
    milliseconds=env.integer("A2A_ATTENTION_ERRORS_WITHIN_MS", 900_000, least=60_000, most=86_400_000)
)
# A callback that was retried longer than this needs a person before it is given up.
A2A_ATTENTION_CALLBACK = timedelta(
    milliseconds=env.integer("A2A_ATTENTION_CALLBACK_MS", 300_000, least=1_000, most=CENTURY_MS)
)
