"""The retry gate on a timer: its settings, its agent, and one pass.

Source: Covenant A2A, "Automatic retry".
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from mailbox.access import audit, requests
from mailbox.access.agents import own_agent_setup
from mailbox.access.callers import Caller
from mailbox.access.own_agents import SCHEDULER
from mailbox.journal import task_entries
from mailbox.models import Agent, AuditEvent, CapabilityGrant
from mailbox.repairs import retry
from mailbox.words.envelopes import check_reason
from mailbox.words.errors import MailboxError

_logger = logging.getLogger(__name__)

LONGEST_INTERVAL = timedelta(days=20)  # the cluster stores the minutes in 15 bits
LONGEST_SHOWN = 80  # characters of an invalid value in its error
_MINUTE = timedelta(minutes=1)

_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off", "")
_INTEGER = re.compile(r"[+-]?[0-9]{1,40}")


class BadSettingError(ValueError):
    """An environment variable has a value that the scheduler cannot use. The message names the variable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """One of the scheduler's settings. ``set_by`` is the variable that sets it; "" for the default."""

    name: str
    value: str
    set_by: str

    @property
    def variable(self) -> str:
        return f"A2A_AUTO_RETRY_{self.name}"

    @classmethod
    def all_in_force(cls) -> list[Bound]:
        return [cls(name=name, value=raw, set_by=_set_by(name)) for name, raw in settings.A2A_AUTO_RETRY.items()]


@dataclass(frozen=True, slots=True, kw_only=True)
class AutoRetry:
    """The settings of the retry gate on its timer: its policy and the interval between two passes.

    The interval is rounded up to whole minutes, since the cluster counts in minutes.
    """

    policy: retry.RetryPolicy
    interval: timedelta

    @classmethod
    def from_settings(cls, values: Mapping[str, str] | None = None) -> AutoRetry:
        """Return the settings in ``values``, environment text by name; None reads ``settings``.

        Raise `BadSettingError`.
        """
        raw = settings.A2A_AUTO_RETRY if values is None else values
        interval = _whole_minutes(timedelta(milliseconds=_integer(raw, "INTERVAL_MS")))
        if interval > LONGEST_INTERVAL:
            raise BadSettingError(f"{_variable('INTERVAL_MS')} must be at most {LONGEST_INTERVAL.days} days.")
        policy = retry.RetryPolicy(
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


def _whole_minutes(span: timedelta) -> timedelta:
    """Return the span rounded up to whole minutes, and to one minute at least."""
    return max(1, -(-span // _MINUTE)) * _MINUTE


def scheduler_agent() -> Agent:
    """Return the agent that the scheduler acts as, registered on first use. Operators give it grants.

    Raises `AgentConflictError` if another program may act as it.
    """
    return own_agent_setup.hub_agent(SCHEDULER)


@contextmanager
def scheduler_locked() -> Iterator[None]:
    """Lock the row of the scheduler's agent for one transaction, so that one process at a time runs the block."""
    agent = own_agent_setup.hub_row(SCHEDULER)
    with transaction.atomic():
        Agent.objects.select_for_update().get(pk=agent.pk)
        yield


def is_granted() -> bool:
    """Whether the scheduler's agent holds ``a2a.repair.requeue``, within some scope."""
    live = CapabilityGrant.objects.live(timezone.now())
    return live.filter(subject__display=SCHEDULER, action=requests.REQUEUE).exists()


def run_once(caller: Caller, *, reason: str, worded: Callable[[MailboxError], str]) -> AuditEvent:
    """Run one pass now, as ``caller`` and within the bounds of the settings, also if the timer is off.

    Needs ``a2a.repair.requeue``; without it the pass fails. Returns the summary row, which holds the reason too; what
    was requeued stands in the journal under the same request id. ``worded`` is as for `run_pass`. Raises
    `InvalidRequestError` for a blank reason.
    """
    policy = replace(AutoRetry.from_settings().policy, enabled=True)
    return run_pass(caller, policy, worded=worded, reason=check_reason(reason))


def run_pass(
    caller: Caller, policy: retry.RetryPolicy, *, worded: Callable[[MailboxError], str], reason: str | None = None
) -> AuditEvent:
    """Run the retry gate once; return its summary row, which is written for a failed pass too and holds ``reason``.

    ``worded`` words a refusal of the pass for the reader of that row.
    """
    report, error = retry.RetryReport(policy=policy), None
    try:
        report = retry.retry_stale(caller, policy)
    except Exception as failure:  # operators must see a failed pass, too
        _logger.exception("the automatic retry pass failed")
        error = worded(failure) if isinstance(failure, MailboxError) else failure_text(failure)
    entry = task_entries.AutoRetryScanEntry(
        enabled=policy.enabled,
        considered=report.considered,
        requeued=len(report.requeued),
        skipped=sum(report.skipped_by_reason.values()),
        skipped_by_reason=report.skipped_by_reason,
        min_lease_age_ms=policy.bounds["min_lease_age_ms"],
        max_attempts=policy.max_attempts,
        max_requeues=policy.max_requeues,
        scan_limit=policy.scan_limit,
        error=error,
        reason=reason,
    )
    return audit.note(caller, entry)


def failure_text(failure: Exception) -> str:
    """Return the text for a failed pass or step in the journal: the message of the error, else its class."""
    return str(failure) or type(failure).__name__


def _set_by(name: str) -> str:
    """Return the variable that sets this setting; "" for the default."""
    spellings = (f"A2A_AUTO_RETRY_{name}", f"COVENANT_A2A_AUTO_RETRY_{name}")  # in order of precedence
    return next((spelling for spelling in spellings if settings.A2A_ENVIRONMENT_READ[spelling].is_set), "")


def _variable(name: str) -> str:
    return _set_by(name) or f"A2A_AUTO_RETRY_{name}"


def _cut(value: str) -> str:
    return value if len(value) <= LONGEST_SHOWN else f"{value[:LONGEST_SHOWN]}…"


def _boolean(raw: Mapping[str, str], name: str) -> bool:
    value = raw[name].strip().lower()
    if value not in (*_TRUE, *_FALSE):
        raise BadSettingError(f'{_variable(name)}: expected boolean env value, got "{_cut(raw[name])}"')
    return value in _TRUE


def _integer(raw: Mapping[str, str], name: str) -> int:
    if not _INTEGER.fullmatch(raw[name].strip()):
        raise BadSettingError(f'{_variable(name)} must be an integer, got "{_cut(raw[name])}"')
    value = int(raw[name])
    if not 0 <= value < 2**53:
        raise BadSettingError(f"{_variable(name)} is out of range: {value}")
    return value
