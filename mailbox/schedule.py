"""What the task cluster does on a timer; the only module that knows django-q2.

Jobs carry a dotted name and no arguments. Each is safe to run twice at once, because the cluster
delivers at least once.
"""

from __future__ import annotations

import logging
import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django_q.models import OrmQ, Schedule

from mailbox import audit, capabilities, compaction, expiry, plan_work, registration, replay, retry, rollups
from mailbox.callers import Caller
from mailbox.compaction import Retention
from mailbox.envelopes import check_reason
from mailbox.errors import Draft, MailboxError
from mailbox.kinds import Kind
from mailbox.models import Agent, AuditEvent, CapabilityGrant
from mailbox.retry import RetryPolicy, RetryReport

SCHEDULER = "scheduler@hub"
RETRY_JOB = "mailbox.schedule.retry_pass"
SWEEP_JOB = "mailbox.schedule.sweep_pass"
ALWAYS = (SWEEP_JOB,)  # run every minute, the finest that the cluster keeps
OURS = "mailbox.schedule."  # begins the name of every job of this module, also of those it had once
LONGEST_INTERVAL = timedelta(days=20)  # the cluster keeps the minutes in 15 bits
PLANS_FOR = 30.0  # seconds of each minute for plans of repairs that nobody waits for

SILENT_AFTER = timedelta(seconds=150)  # a running cluster looks about every 30 s for what is due each minute
WAITING_COUNTED = 1000

_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off", "")
_INTEGER = re.compile(r"[+-]?[0-9]{1,40}")
_logger = logging.getLogger(__name__)


class BadSettingError(ValueError):
    """An environment value that the scheduler cannot work with; the message names it and says what fits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """What the database tells of the task cluster, which keeps its timetable there.

    ``next_retry`` None: no pass is planned. ``looked_at`` is about when the cluster last went through its timetable,
    None when it never started here. ``waiting`` jobs wait for a worker or run, counted to `WAITING_COUNTED`.
    """

    next_retry: datetime | None
    looked_at: datetime | None
    waiting: int

    @classmethod
    def read(cls) -> Cluster:
        rows = {row.func: row for row in Schedule.objects.filter(func__in=(RETRY_JOB, SWEEP_JOB))}
        sweep, retry_row = rows.get(SWEEP_JOB), rows.get(RETRY_JOB)
        return cls(
            next_retry=retry_row.next_run if retry_row else None,
            looked_at=sweep.next_run - timedelta(minutes=sweep.minutes) if sweep else None,
            waiting=OrmQ.objects.order_by()[:WAITING_COUNTED].count(),
        )

    def is_running(self, now: datetime) -> bool:
        return self.looked_at is not None and now - self.looked_at < SILENT_AFTER


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """One of the scheduler's settings as it is in force; ``set_by`` names the variable that says so, "" the default."""

    name: str
    value: str
    set_by: str

    @property
    def variable(self) -> str:
        return f"A2A_AUTO_RETRY_{self.name}"

    @classmethod
    def all_in_force(cls) -> list[Bound]:
        found = []
        for name, raw in settings.A2A_AUTO_RETRY.items():
            spellings = (
                f"A2A_AUTO_RETRY_{name}",
                f"COVENANT_A2A_AUTO_RETRY_{name}",
            )  # the first one that is set counts
            given = (spelling for spelling in spellings if settings.A2A_ENVIRONMENT_READ[spelling].is_set)
            found.append(cls(name=name, value=raw, set_by=next(given, "")))
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class AutoRetry:
    """The scheduler's settings: whether it runs, how often, and within which bounds."""

    policy: RetryPolicy
    interval: timedelta

    @classmethod
    def from_settings(cls, values: Mapping[str, str] | None = None) -> AutoRetry:
        """Read ``A2A_AUTO_RETRY``, raw environment text by name; raise `BadSettingError`."""
        raw = settings.A2A_AUTO_RETRY if values is None else values
        interval = timedelta(milliseconds=_integer(raw, "INTERVAL_MS"))
        if not timedelta(minutes=1) <= interval <= LONGEST_INTERVAL or interval % timedelta(minutes=1):
            raise BadSettingError(
                "A2A_AUTO_RETRY_INTERVAL_MS must be a whole number of minutes, such as 60000, and at most 20 days: "
                "the cluster looks at its schedule about every 30 seconds and counts in minutes"
            )
        policy = RetryPolicy(
            enabled=_boolean(raw, "SCHEDULER"),
            min_lease_age=timedelta(milliseconds=_integer(raw, "MIN_LEASE_AGE_MS")),
            max_attempts=_integer(raw, "MAX_ATTEMPTS"),
            max_requeues=_integer(raw, "MAX_REQUEUES"),
            scan_limit=_integer(raw, "SCAN_LIMIT"),
        )
        try:
            policy.check()
        except MailboxError as error:
            raise BadSettingError(f"A2A_AUTO_RETRY_...: {error.message}") from error
        return cls(policy=policy, interval=interval)


def register() -> None:
    """Make the cluster's schedule say what the settings say, once, however many processes start at once.

    Locks the scheduler's own agent row. Raises `BadSettingError`.
    """
    wanted = AutoRetry.from_settings()
    minutes = dict.fromkeys(ALWAYS, 1)
    if wanted.policy.enabled:
        minutes[RETRY_JOB] = wanted.interval // timedelta(minutes=1)
    agent = scheduler_agent()
    with transaction.atomic():
        Agent.objects.select_for_update().get(pk=agent.pk)
        known = Schedule.objects.filter(func__startswith=OURS)
        kept = {row.func: row for row in known.order_by("pk") if row.func in minutes}
        known.exclude(pk__in=[row.pk for row in kept.values()]).delete()
        for func, every in minutes.items():
            row = kept.get(func) or Schedule(func=func, name=func, next_run=timezone.now())
            row.schedule_type, row.minutes, row.repeats = Schedule.MINUTES, every, -1
            row.save()


def scheduler_agent() -> Agent:
    """Return the agent that the scheduler acts as, registering it on first use. It holds what operators grant it."""
    return registration.hub_agent(SCHEDULER)


def is_granted() -> bool:
    """Whether the scheduler's agent holds what its passes need."""
    live = CapabilityGrant.objects.live(timezone.now())
    return live.filter(subject__display=SCHEDULER, action=capabilities.REQUEUE).exists()


def retry_pass() -> None:
    """Run the retry gate once, if the settings opt in now, and write one summary row, also of a failed pass."""
    wanted = AutoRetry.from_settings()
    if wanted.policy.enabled:
        caller = Caller.scheduler(scheduler_agent())
        _pass(replace(caller, request_id=f"pass:{uuid.uuid4()}"), wanted.policy)


def run_once(caller: Caller, *, reason: str) -> AuditEvent:
    """Run the retry gate now, as ``caller`` and within the settings' bounds, whether or not it runs on a timer.

    Needs ``a2a.repair.requeue``; without it the pass fails. Returns the summary row, which holds the reason too; what
    was requeued stands in the journal under the same request id. Raises `InvalidRequestError` for a blank reason.
    """
    return _pass(caller, replace(AutoRetry.from_settings().policy, enabled=True), reason=check_reason(reason))


def _pass(caller: Caller, policy: RetryPolicy, **said: str) -> AuditEvent:
    report, error = RetryReport(policy=policy), None
    try:
        report = retry.retry_stale(caller, policy)
    except Exception as failure:  # whatever stopped the pass, operators must see that it ran
        _logger.exception("the automatic retry pass failed")
        error = _told(failure)
    return audit.note(caller, Draft(kind=Kind.AUTO_RETRY_SCAN, data=summary(report, error) | said))


def summary(report: RetryReport, error: str | None) -> dict[str, object]:
    """Return the journal data of one pass. Source: Covenant, audit kind of the same name."""
    policy = report.policy
    return {
        "enabled": policy.enabled,
        "considered": report.considered,
        "requeued": len(report.requeued),
        "skipped": len(report.skipped),
        "skipped_by_reason": report.skipped_by_reason,
        "min_lease_age_ms": policy.min_lease_age // timedelta(milliseconds=1),
        "max_attempts": policy.max_attempts,
        "max_requeues": policy.max_requeues,
        "scan_limit": policy.scan_limit,
        "error": error,
    }


def sweep_pass() -> None:
    """Expire what ran out of time, roll up minutes, drop what is kept no longer, go on with plans.

    No step waits for another to succeed: one that fails is logged and leaves a row, ``a2a_sweep_failed`` with its
    name and the error, and the next pass tries it again.
    """
    caller = Caller(name=SCHEDULER, source=AuditEvent.Source.SCHEDULER, trusted=True)
    failed: dict[str, str] = {}
    for name, step in _sweep_steps(caller).items():
        try:
            step()
        except Exception as failure:  # whatever stopped one step, the others are due all the same
            _logger.exception("the sweep failed to %s", name)
            failed[name] = _told(failure)
    for name, error in failed.items():
        audit.note(caller, Draft(kind=Kind.SWEEP_FAILED, data={"step": name, "error": error}))


def _sweep_steps(caller: Caller) -> Mapping[str, Callable[[], object]]:
    steps: dict[str, Callable[[], object]] = {
        "expire tasks": lambda: expiry.sweep(caller),
        "roll up minutes": rollups.roll,
        "keep tasks/send under its cap": lambda: compaction.cap_sent(
            caller, dialect="corvid", cap=settings.A2A_TASKS_SEND_CAP
        ),
        "drop expired replay entries": lambda: replay.drop_expired(caller),
    }
    if settings.A2A_RETENTION_SWEEP:
        steps["compact"] = lambda: compaction.compact(caller, Retention.from_settings())
    return steps | {"go on with plans": lambda: plan_work.carry_on(seconds=PLANS_FOR)}


def _told(failure: Exception) -> str:
    return str(failure) or type(failure).__name__


def _boolean(raw: Mapping[str, str], name: str) -> bool:
    value = raw[name].strip().lower()
    if value not in (*_TRUE, *_FALSE):
        raise BadSettingError(f'A2A_AUTO_RETRY_{name}: expected boolean env value, got "{raw[name]}"')
    return value in _TRUE


def _integer(raw: Mapping[str, str], name: str) -> int:
    if not _INTEGER.fullmatch(raw[name].strip()):
        raise BadSettingError(f'A2A_AUTO_RETRY_{name} must be an integer, got "{raw[name]}"')
    value = int(raw[name])
    if not 0 <= value < 2**53:
        raise BadSettingError(f"A2A_AUTO_RETRY_{name} is out of range: {value}")
    return value
