"""The health checks of the hub, each a line of the health page.

They look at alerts, credentials, waiting requests and the work itself. Waiting requests are known only as far as the
process that answers knows them.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from django.conf import settings
from django.db.models import Count, Min, Q
from django.db.models.sql import Query

from mailbox.access import own_agents
from mailbox.database import compiled, waiting
from mailbox.database.bell import waiters
from mailbox.database.bell.watch import EVERY_DEAF
from mailbox.database.compiled import Parameter
from mailbox.database.paging import Counted, query_of_figures
from mailbox.inspection.statistics import standing
from mailbox.models import Alert, ApiKey
from mailbox.models.credentials import WARNED_BEFORE
from mailbox.words import times


class HealthStatus(StrEnum):
    OK = "ok"
    DEGRADED = "degraded"
    FAILING = "failing"


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthCheck:
    """``saw`` is the measured value. ``note`` is its meaning or what to do; "" without either."""

    name: str
    word: HealthStatus
    saw: str
    note: str = ""


def channels(now: datetime) -> HealthCheck:
    """Report whether the channels took the newest alerts."""
    if not settings.A2A_ALERT_URL and not settings.A2A_ALERT_MAIL:
        return HealthCheck(name="Alerts", word=HealthStatus.OK, saw="off: no webhook and no mail address is set")
    failed = Alert.objects.exclude(error="").order_by("-seen_at", "pk").first()
    if failed is not None:
        note = "Run `manage.py a2a alerts test` to test the channels."
        return HealthCheck(name="Alerts", word=HealthStatus.DEGRADED, saw=failed.error, note=note)
    reported = Alert.objects.exclude(reported_at=None).count()
    saw = f"{reported} decision{'' if reported == 1 else 's'} reported"
    return HealthCheck(name="Alerts", word=HealthStatus.OK, saw=saw)


NAMED = 5  # keys that a check names


def hub_agents(now: datetime) -> HealthCheck:
    """Report a program that can act as an agent of the hub itself."""
    conflicts = own_agents.conflicts(now)
    if not conflicts:
        return HealthCheck(name="Hub's own agents", word=HealthStatus.OK, saw="no other program can act as them")
    return HealthCheck(name="Hub's own agents", word=HealthStatus.FAILING, saw="; ".join(conflicts))


def api_keys(now: datetime) -> HealthCheck:
    """Report the live keys: how many have no expiry, the oldest, and those that expire soon or outlived the limit."""
    keys = ApiKey.objects.live(now)
    totals = keys.aggregate(live=Count("pk"), dated=Count("expires_at"), oldest=Min("created_at"))
    if totals["oldest"] is None:
        return HealthCheck(name="API keys", word=HealthStatus.OK, saw="no live key")
    eternal, age = totals["live"] - totals["dated"], times.write(now - totals["oldest"])
    saw = f"{totals['live']} live, {eternal} without an expiry, the oldest made {age} ago"
    notes = [*_soon(now), *_too_old(now)]
    word = HealthStatus.DEGRADED if notes else HealthStatus.OK
    return HealthCheck(name="API keys", word=word, saw=saw, note=" ".join(notes))


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
    if settings.A2A_WAKE_UPS == waiters.POLL:
        return HealthCheck(name="Wake-ups", word=HealthStatus.OK, saw=f"{looks}, since A2A_WAKE_UPS is poll")
    if waiters.is_hearing():
        return HealthCheck(name="Wake-ups", word=HealthStatus.OK, saw="by rings")
    if not waiters.is_anyone_here():
        return HealthCheck(name="Wake-ups", word=HealthStatus.OK, saw="no thread is waiting in this process")
    note = "This process hears no rings of other processes. See the log of the hub."
    return HealthCheck(name="Wake-ups", word=HealthStatus.DEGRADED, saw=looks, note=note)


COUNTED_TO = 1_000
NAMED_WORK = 3


def queues(now: datetime) -> HealthCheck:
    """Report the agents with a task that is queued for too long."""
    late = standing.late_names(now, most=COUNTED_TO)
    limit = times.write(settings.A2A_ATTENTION_QUEUED)
    if not late:
        return HealthCheck(name="Agents' queues", word=HealthStatus.OK, saw=f"no task queued for over {limit}")
    saw = f"task queued for over {limit}: {_named_work(late)}"
    note = "The agent doesn't pick up tasks, or not fast enough."
    return HealthCheck(name="Agents' queues", word=HealthStatus.DEGRADED, saw=saw, note=note)


def errors(now: datetime) -> HealthCheck:
    """Report the agents, or the hub, with many errors among their results."""
    shares = standing.error_shares(now)
    if not shares:
        return HealthCheck(name="Errors", word=HealthStatus.OK, saw="no error spike")
    saw = _named_work([f"{share.agent or 'whole hub'} {share.percent} %" for share in shares])
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
    return query_of_figures(*(Counted.up_to(most, part) for part in standing.failing_callbacks(Parameter("before"))))


def _named_work(names: list[str]) -> str:
    more = f" and {len(names) - NAMED_WORK} more" if len(names) > NAMED_WORK else ""
    return f"{', '.join(names[:NAMED_WORK])}{more}"
