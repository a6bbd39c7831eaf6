"""Settings of people: their sessions and their second factors."""

from __future__ import annotations

from datetime import timedelta

from a2aproject.settings.environment import env

DAY_MS = 86_400_000

# A session ends after so much time without a page or a form of its person, and at the latest so long after the sign-in.
A2A_SESSION_IDLE = timedelta(milliseconds=env.integer("A2A_SESSION_IDLE_MS", 3_600_000, least=60_000, most=30 * DAY_MS))
A2A_SESSION_LIMIT = timedelta(
    milliseconds=env.integer("A2A_SESSION_LIMIT_MS", 43_200_000, least=60_000, most=30 * DAY_MS)
)
# People who need a second factor: those without one are led to its page first. API keys need none.
A2A_REQUIRE_SECOND_FACTOR = env.word("A2A_REQUIRE_SECOND_FACTOR", "off", "OFF", "ADMINS", "EVERYONE").lower()

SESSION_COOKIE_AGE = A2A_SESSION_LIMIT // timedelta(seconds=1)
