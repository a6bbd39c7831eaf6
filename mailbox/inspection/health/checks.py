"""The health checks of the hub, each a line of the health page.

They look at alerts, credentials, waiting requests and the work itself. Waiting requests are known only as far as the
process that answers knows them.
"""

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from django.conf import settings
from django.db.models import Count, Min, Q

from mailbox.access import own_agents
from mailbox.database import waiting
from mailbox.database.bell import waiters
from mailbox.database.bell.watch import EVERY_DEAF
from mailbox.database.compiled import Compiled
from mailbox.database.paging import Counted, query_of_figures
from mailbox.inspection.statistics import standing
from mailbox.models import Alert, ApiKey
from mailbox.models.credentials import WARNED_BEFORE
from mailbox.words import times

NAMED = 5  # keys that a check names
LATELY = 300.0  # seconds
COUNTED_TO = 1_000
NAMED_WORK = 3


class HealthStatus(StrEnum):
    OK = "ok"
    DEGRADED = "degraded"
    FAILING = "failing"


class Measured(NamedTuple):
    """``saw`` is the measured value. ``note`` is its meaning or what to do; "" without either."""

    word: HealthStatus
    saw: str
    note: str = ""


def channels(now: datetime) -> Measured:
    """Report whether the channels took the newest alerts."""
    if not settings.A2A_ALERT_URL and not settings.A2A_ALERT_MAIL:
        return Measured(HealthStatus.OK, "off: no webhook and no mail address is set")
    failed = Alert.objects.exclude(error="").order_by("-seen_at", "pk").first()
    if failed is not None:
        note = "Run `manage.py a2a alerts test` to test the channels."
        return Measured(HealthStatus.DEGRADED, failed.error, note)
    reported = Alert.objects.exclude(reported_at=None).count()
    saw = f"{reported} decision{'' if reported == 1 else 's'} reported"
    return Measured(HealthStatus.OK, saw)


def hub_agents(now: datetime) -> Measured:
    """Report a program that can act as an agent of the hub itself."""
    conflicts = own_agents.conflicts(now)
    if not conflicts:
        return Measured(HealthStatus.OK, "no other program can act as them")
    return Measured(HealthStatus.FAILING, "; ".join(conflicts))


def api_keys(now: datetime) -> Measured:
    """Report the live keys: how many have no expiry, the oldest, and those that expire soon or outlived the limit."""
    keys = ApiKey.objects.live(now)
    totals = keys.aggregate(live=Count("pk"), dated=Count("expires_at"), oldest=Min("created_at"))
    if totals["oldest"] is None:
        return Measured(HealthStatus.OK, "no live key")
    eternal, age = totals["live"] - totals["dated"], times.write(now - totals["oldest"])
    saw = f"{totals['live']} live, {eternal} without an expiry, the oldest made {age} ago"
    notes = [*_soon(now), *_too_old(now)]
    word = HealthStatus.DEGRADED if notes else HealthStatus.OK
    return Measured(word, saw, " ".join(notes))


def _soon(now: datetime) -> list[str]:
    """Return the sentence about keys that expire soon. A key with a live successor ends as planned."""
    ending = (
        ApiKey.objects.live(now)
        .not_replaced(now)
        .filter(expires_at__lte=now + WARNED_BEFORE)
        .select_related("agent", "user")
    )
    soon = [key for key in ending.order_by("expires_at") if key.expires_soon(now)]
    return [f"{_named(soon)} will expire soon: rotate."] if soon else []


def _too_old(now: datetime) -> list[str]:
    if not settings.A2A_KEY_MAX_AGE:
        return []
    outlived = Q(expires_at=None) | Q(created_at__lt=now - settings.A2A_KEY_MAX_AGE)
    old = list(
        ApiKey.objects.live(now)
        .not_replaced(now)
        .filter(outlived)
        .select_related("agent", "user")
        .order_by("created_at")
    )
    return [f"{_named(old)} may live longer than A2A_KEY_MAX_AGE_MS: rotate or revoke."] if old else []


def _named(keys: list[ApiKey]) -> str:
    named = ", ".join(f"{key} of {key.owner}" for key in keys[:NAMED])
    return f"{named} and {len(keys) - NAMED} more" if len(keys) > NAMED else named


def seats(now: datetime) -> Measured:
    """Report the seats for waiting requests: how many are taken, and how many requests found none."""
    here = waiting.seats
    saw = f"{here.taken} of {here.all} taken, {here.refused} requests refused (this process)"
    if not here.has_refused_within(LATELY):
        return Measured(HealthStatus.OK, saw)
    note = "A request without a seat is answered at once, as if nothing had come. Raise WEB_THREADS."
    return Measured(HealthStatus.DEGRADED, saw, note)


def wake_ups(now: datetime) -> Measured:
    """Report whether rings wake the waiting threads of this process."""
    looks = f"by looks every {EVERY_DEAF:g} s"
    if settings.A2A_WAKE_UPS == waiters.POLL:
        return Measured(HealthStatus.OK, f"{looks}, since A2A_WAKE_UPS is poll")
    if waiters.is_hearing():
        return Measured(HealthStatus.OK, "by rings")
    if not waiters.is_anyone_here():
        return Measured(HealthStatus.OK, "no thread is waiting in this process")
    note = "This process hears no rings of other processes. See the log of the hub."
    return Measured(HealthStatus.DEGRADED, looks, note)


def queues(now: datetime) -> Measured:
    """Report the agents with a task that is queued for too long."""
    late = standing.late_names(now, most=COUNTED_TO)
    limit = times.write(settings.A2A_ATTENTION_QUEUED)
    if not late:
        return Measured(HealthStatus.OK, f"no task queued for over {limit}")
    saw = f"task queued for over {limit}: {_named_work(late)}"
    note = "The agent doesn't pick up tasks, or not fast enough."
    return Measured(HealthStatus.DEGRADED, saw, note)


def errors(now: datetime) -> Measured:
    """Report the agents, or the hub, with many errors among their results."""
    shares = standing.error_shares(now)
    if not shares:
        return Measured(HealthStatus.OK, "no error spike")
    saw = _named_work([f"{share.agent or 'whole hub'} {share.percent} %" for share in shares])
    return Measured(HealthStatus.DEGRADED, f"error spike: {saw}")


def callbacks(now: datetime) -> Measured:
    """Report the callbacks that keep failing and are not given up."""
    parts = standing.failing_callbacks(standing.failing_before(now))
    (counts,) = Compiled(query_of_figures(*(Counted.up_to(COUNTED_TO, part) for part in parts))).rows()
    failing = sum(counts)
    if not failing:
        return Measured(HealthStatus.OK, "no callback failing")
    shown = f"{COUNTED_TO:,}+".replace(",", "\N{NARROW NO-BREAK SPACE}") if failing > COUNTED_TO else f"{failing}"
    saw = f"{shown} failing for over {times.write(settings.A2A_ATTENTION_CALLBACK)}"
    note = "Retried automatically until the last attempt. Check the receivers."
    return Measured(HealthStatus.DEGRADED, saw, note)


def _named_work(names: list[str]) -> str:
    more = f" and {len(names) - NAMED_WORK} more" if len(names) > NAMED_WORK else ""
    return f"{', '.join(names[:NAMED_WORK])}{more}"
