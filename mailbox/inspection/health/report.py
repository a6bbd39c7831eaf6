"""The health of the hub: each check reports ok, degraded or failing, with what it measured."""

import logging
import platform
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache, partial
from importlib.metadata import version
from typing import TypeVar

import django
from django.conf import settings
from django.db import connection

from mailbox.database import timetable, vitals
from mailbox.inspection.health import checks as checks_module
from mailbox.inspection.health import cluster
from mailbox.inspection.health.checks import HealthStatus, Measured
from mailbox.inspection.search import full_text
from mailbox.journal import seals
from mailbox.models import AuditEvent, PushConfig, PushDelivery, RollUp
from mailbox.words import redaction, times

LOCK_WAIT = timedelta(milliseconds=250)
LOG_LARGE = 64 * 2**20
DEAD_MANY = 100_000
TRANSACTIONS_FEW = 500_000_000

_SECRET = re.compile(r"KEY|SECRET|PASSWORD|TOKEN|DATABASE_URL|EMAIL_URL|ALERT_URL")
_INTERNAL = {"A2A_IS_WEB_PROCESS", "A2A_IS_COMMAND_LINE"}  # set by the hub itself
_VALUE_SHOWN = 100
UNKNOWN = Measured(HealthStatus.DEGRADED, "could not be measured", "See the hub's log.")
Value = TypeVar("Value")
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """A line of the report. ``saw`` and ``note`` are those of `Measured`."""

    name: str
    word: HealthStatus
    saw: str
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """A setting that is not its default. ``value`` is None for a secret."""

    name: str
    value: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    checks: list[HealthCheck]
    tables: list[vitals.Table]
    size: int | None
    versions: dict[str, str]
    changed: list[Changed]

    @property
    def word(self) -> HealthStatus:
        """The worst word of the checks."""
        words = {check.word for check in self.checks}
        return next((word for word in (HealthStatus.FAILING, HealthStatus.DEGRADED) if word in words), HealthStatus.OK)


def look(now: datetime) -> Health:
    """Return the health of the hub. Raises no error: a check that cannot measure is degraded."""
    checks = [HealthCheck(name, *(_attempt(name, partial(measure, now)) or UNKNOWN)) for name, measure in _checks()]
    tables, size = _attempt("tables", vitals.tables), _attempt("size", vitals.size)
    if tables is None or size is None:
        checks.append(HealthCheck("Tables", *UNKNOWN))
    return Health(checks=checks, tables=tables or [], size=size, versions=_versions(), changed=list(_changed()))


def _checks() -> Iterator[tuple[str, Callable[[datetime], Measured]]]:
    yield "Database answers", _answers
    yield "Clocks agree", _clocks
    if connection.vendor == "postgresql":
        yield "Oldest transaction", _oldest_transaction
        yield "Vacuum", _vacuum
    else:
        yield "Write lock", _write_lock
        yield "Write-ahead log", _log
        yield "Text search", _text_search
    yield "Background worker", _cluster
    yield "Background jobs", _queue
    yield "Sweep", _sweep
    yield "Callbacks", _callbacks
    yield "Callback retries", checks_module.callbacks
    yield "Agents' queues", checks_module.queues
    yield "Errors", checks_module.errors
    yield "Audit log seals", _seals
    if connection.vendor == "postgresql":
        yield "Audit log rights", _rights
    yield "Roll-ups", _roll_ups
    yield "Alerts", checks_module.channels
    yield "Hub's own agents", checks_module.hub_agents
    yield "API keys", checks_module.api_keys
    yield "Waiting requests", checks_module.seats
    yield "Wake-ups", checks_module.wake_ups


def _attempt(name: str, measure: Callable[[], Value]) -> Value | None:
    try:
        return measure()
    except Exception:  # a check that raises is degraded, and must not hide the others
        _logger.exception("the health check of %s could not be made", name)
        return None


def _judged(word: HealthStatus, saw: str, note: str) -> Measured:
    """Return what was measured. Its note is for a word other than ok."""
    return Measured(word, saw, "" if word is HealthStatus.OK else note)


def _answers(now: datetime) -> Measured:
    took = vitals.answer().took
    word = _graded(took, timedelta(milliseconds=50), timedelta(seconds=1))
    return Measured(word, f"in {_milliseconds(took)}")


def _clocks(now: datetime) -> Measured:
    ahead = vitals.answer().ahead
    word = _graded(abs(ahead), timedelta(seconds=1), timedelta(minutes=1))
    note = "Ages, deadlines and timeouts are wrong by this difference. Synchronise the clocks with NTP."
    return _judged(word, f"within {_milliseconds(abs(ahead))}", note)


def _oldest_transaction(now: datetime) -> Measured:
    age = vitals.oldest_transaction()
    word = _graded(age, timedelta(minutes=1), timedelta(minutes=15))
    note = "Newer rows cannot be vacuumed. See pg_stat_activity for the transaction."
    return _judged(word, times.write(age), note)


def _vacuum(now: datetime) -> Measured:
    seen = vitals.vacuum()
    behind = seen.dead > DEAD_MANY and seen.dead > seen.live
    word = HealthStatus.DEGRADED if behind else HealthStatus.OK
    if seen.transactions_left < TRANSACTIONS_FEW:
        word = HealthStatus.FAILING
    saw = f"at most {seen.dead:,} dead rows, in {seen.table}; {seen.transactions_left:,} transactions to wraparound"
    return Measured(word, saw.replace(",", "\N{NARROW NO-BREAK SPACE}"))


def _write_lock(now: datetime) -> Measured:
    waited = vitals.wait_for_write_lock(LOCK_WAIT)
    if waited is None:
        note = "A writer holds the lock for long. Use PostgreSQL for many writers."
        saw = f"not free within {_milliseconds(LOCK_WAIT)}"
        return Measured(HealthStatus.DEGRADED, saw, note)
    return Measured(HealthStatus.OK, f"free after {_milliseconds(waited)}")


def _log(now: datetime) -> Measured:
    size = vitals.log_size()
    word = HealthStatus.OK if size < LOG_LARGE else HealthStatus.DEGRADED
    note = "A reader that does not end keeps the log from being written back."
    return _judged(word, f"{size / 2**20:.1f} MiB", note)


def _text_search(now: datetime) -> Measured:
    is_kept = full_text.is_kept()
    word = HealthStatus.OK if is_kept else HealthStatus.DEGRADED
    note = "" if is_kept else "Use an SQLite with FTS5, and apply the migration mailbox 0051 again."
    return Measured(word, "by FTS5" if is_kept else "off: no FTS5", note)


def _cluster(now: datetime) -> Measured:
    swept_at = cluster.swept_at()
    if swept_at is None:
        saw = "no sweep finished yet"
    elif swept_at > now:
        saw = f"last sweep is dated {times.write(swept_at - now)} ahead of this clock"
    else:
        saw = f"last sweep {times.write(now - swept_at)} ago"
    if cluster.is_recent(swept_at, now):
        return Measured(HealthStatus.OK, saw)
    note = "No task is retried, expired or rolled up on a timer. `manage.py serve` starts it."
    return Measured(HealthStatus.DEGRADED, saw, note)


def _queue(now: datetime) -> Measured:
    due = timetable.due_since(now)
    saw = f"{len(due)} job{'' if len(due) == 1 else 's'} pending"
    if not due or now - due[0] < cluster.SILENT_AFTER:
        return Measured(HealthStatus.OK, saw)
    saw = f"{saw}, the longest for {times.write(now - due[0])}"
    return Measured(HealthStatus.DEGRADED, saw)


def _sweep(now: datetime) -> Measured:
    failed = AuditEvent.objects.failed_sweeps().first()
    if failed is None or now - failed.at > cluster.SILENT_AFTER:
        return Measured(HealthStatus.OK, "no recent failure")
    step, error = failed.fields["step"], failed.fields["error"][:_VALUE_SHOWN]
    note = "Retried every minute. The other steps still run."
    return Measured(HealthStatus.DEGRADED, f"failed to {step}: {error}", note)


def _callbacks(now: datetime) -> Measured:
    callbacks = PushDelivery.objects.due(now).order_by("next_attempt_at")[:1]
    webhooks = PushConfig.objects.due(now).select_related("task").order_by("next_attempt_at")[:1]
    waiting = [*(callback.next_attempt_at for callback in callbacks), *(webhook.due_since for webhook in webhooks)]
    if not waiting:
        return Measured(HealthStatus.OK, "nothing due")
    late = now - min(waiting)
    word = _graded(late, timedelta(minutes=2), timedelta(hours=1))
    note = "`manage.py a2a carry` sends them. `manage.py serve` starts it."
    return _judged(word, f"oldest overdue by {times.write(late)}", note)


def _seals(now: datetime) -> Measured:
    seen = seals.state()
    if seen.problem:
        note = "`manage.py a2a audit verify` names the first wrong row."
        return Measured(HealthStatus.FAILING, seen.problem, note)
    head = f"head {seen.head.hash} at row {seen.head.last_id}" if seen.head else "no block yet"
    waits = now - seen.waits_since if seen.waits_since else timedelta(0)
    word = _graded(waits, timedelta(minutes=10), timedelta(days=1))
    if word is HealthStatus.OK and seen.head and not seen.is_recorded:
        return Measured(word, head, "No head is recorded on this machine, so the newest blocks are not proven.")
    return _judged(word, head, f"A row waits for its seal for {times.write(waits)}. The sweep seals rows.")


def _rights(now: datetime) -> Measured:
    held = vitals.rights_to_change(AuditEvent._meta.db_table)
    saw = f"this role may {', '.join(held)}" if held else "this role may only add rows"
    note = "A role without these rights is a second layer; the page on operations describes it." if held else ""
    return Measured(HealthStatus.OK, saw, note)


def _roll_ups(now: datetime) -> Measured:
    newest = RollUp.objects.newest()
    if newest is None:
        return Measured(HealthStatus.DEGRADED, "none yet", "The background worker creates them.")
    behind = now - newest.through
    word = _graded(behind, timedelta(minutes=6), timedelta(days=7))
    return _judged(word, f"{times.write(behind)} behind", "Charts are slower until roll-ups catch up.")


def _graded(seen: timedelta, well: timedelta, badly: timedelta) -> HealthStatus:
    if seen < well:
        return HealthStatus.OK
    return HealthStatus.DEGRADED if seen < badly else HealthStatus.FAILING


def _milliseconds(span: timedelta) -> str:
    return f"{span / timedelta(milliseconds=1):.1f} ms"


def _versions() -> dict[str, str]:
    return {
        "A2A Hub": settings.A2A_VERSION,
        "Python": platform.python_version(),
        "Django": django.get_version(),
        "Database": _attempt("version", vitals.version) or "unknown",
        **{name: _installed(name) for name in ("django-q2", "granian")},
    }


@cache
def _installed(package: str) -> str:
    return version(package)


def _changed() -> Iterator[Changed]:
    for name, read in sorted(settings.A2A_ENVIRONMENT_READ.items()):
        if read.is_default or name in _INTERNAL:
            continue
        shown = redaction.url(str(read.value))
        clipped = shown if len(shown) <= _VALUE_SHOWN else f"{shown[:_VALUE_SHOWN]}…"
        yield Changed(name=name, value=None if _SECRET.search(name) else clipped)
