"""Health checks of waiting requests, as far as the process that answers knows."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings

from mailbox.database import waiting
from mailbox.database.bell import hearing, waiters
from mailbox.database.bell.watch import EVERY_DEAF
from mailbox.inspection.health.checks import HealthCheck, HealthStatus

LATELY = 300.0  # seconds


def seats(now: datetime) -> HealthCheck:
    """Report the seats for waiting requests: how many are taken, and how many requests found none."""
    here = waiting.seats
    saw = f"{here.taken} of {here.all} taken, {here.refused} requests refused (this process)"
    if not here.has_refused_within(LATELY):
        return HealthCheck(name="Waiting requests", word=HealthStatus.OK, saw=saw)
    note = "A request without a seat is answered at once, as if nothing had come. Raise WEB_THREADS."
    return HealthCheck(name="Waiting requests", word=HealthStatus.DEGRADED, saw=saw, note=note)


def wake_ups(now: datetime) -> HealthCheck:
    """Report whether rings wake the waiting threads of this process."""
    looks = f"by looks every {EVERY_DEAF:g} s"
    if settings.A2A_WAKE_UPS == hearing.POLL:
        return HealthCheck(name="Wake-ups", word=HealthStatus.OK, saw=f"{looks}, since A2A_WAKE_UPS is poll")
    if hearing.is_on():
        return HealthCheck(name="Wake-ups", word=HealthStatus.OK, saw="by rings")
    if not waiters.is_anyone_here():
        return HealthCheck(name="Wake-ups", word=HealthStatus.OK, saw="no thread is waiting in this process")
    note = "This process hears no rings of other processes. See the log of the hub."
    return HealthCheck(name="Wake-ups", word=HealthStatus.DEGRADED, saw=looks, note=note)
