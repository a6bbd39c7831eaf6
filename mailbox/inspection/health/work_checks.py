"""Health checks of the work itself: late queues, many errors, and callbacks that keep failing."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.db.models.sql import Query

from mailbox.database import compiled
from mailbox.database.compiled import Given
from mailbox.database.counted import Counted, together
from mailbox.inspection.health.checks import HealthCheck, HealthStatus
from mailbox.inspection.statistics import standing
from mailbox.words import times

COUNTED_TO = 1_000
NAMED = 3


def queues(now: datetime) -> HealthCheck:
    """Report the agents with a task that is queued for too long."""
    late = standing.late_names(now, most=COUNTED_TO)
    limit = times.write(settings.A2A_ATTENTION_QUEUED)
    if not late:
        return HealthCheck(name="Agents' queues", word=HealthStatus.OK, saw=f"no task queued for over {limit}")
    saw = f"task queued for over {limit}: {_named(late)}"
    note = "The agent doesn't pick up tasks, or not fast enough."
    return HealthCheck(name="Agents' queues", word=HealthStatus.DEGRADED, saw=saw, note=note)


def errors(now: datetime) -> HealthCheck:
    """Report the agents, or the hub, with many errors among their results."""
    found = standing.error_shares(now)
    if not found:
        return HealthCheck(name="Errors", word=HealthStatus.OK, saw="no error spike")
    saw = _named([f"{share.agent or 'whole hub'} {share.percent} %" for share in found])
    return HealthCheck(name="Errors", word=HealthStatus.DEGRADED, saw=f"error spike: {saw}")


def callbacks(now: datetime) -> HealthCheck:
    """Report the callbacks that keep failing and are not given up."""
    (counts,) = _failing(COUNTED_TO).rows(before=standing.failing_before(now))
    failing = sum(counts)
    if not failing:
        return HealthCheck(name="Callback retries", word=HealthStatus.OK, saw="no callback failing")
    shown = f"{COUNTED_TO:,}+".replace(",", "\N{NARROW NO-BREAK SPACE}") if failing > COUNTED_TO else f"{failing}"
    saw = f"{shown} failing for over {times.write(settings.A2A_ATTENTION_CALLBACK)}"
    note = "Retried automatically until the last attempt. Check the receivers."
    return HealthCheck(name="Callback retries", word=HealthStatus.DEGRADED, saw=saw, note=note)


@compiled.once
def _failing(most: int) -> Query:
    return together(*(Counted.up_to(most, part) for part in standing.failing_callbacks(Given("before"))))


def _named(names: list[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{', '.join(names[:NAMED])}{more}"
