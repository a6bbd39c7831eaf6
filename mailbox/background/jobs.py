"""What the task cluster does on a timer.

Jobs carry a dotted name and no arguments. Each is safe to run twice at once, because the cluster
delivers at least once.
"""

from __future__ import annotations

import logging
import uuid
from dataclasses import replace
from datetime import timedelta

from mailbox.database import timetable
from mailbox.database.timetable import RETRY_JOB, SWEEP_JOB
from mailbox.gate import audit
from mailbox.gate.callers import Caller
from mailbox.models import AuditEvent
from mailbox.verbs.repairs.auto_retry import (
    SCHEDULER,
    AutoRetry,
    failure_text,
    run_pass,
    scheduler_agent,
    scheduler_locked,
)
from mailbox.verbs.upkeep import sweep
from mailbox.words import advice
from mailbox.words.errors import Draft
from mailbox.words.kinds import Kind

ALWAYS = (SWEEP_JOB,)  # run every minute, the finest that the cluster keeps
_logger = logging.getLogger(__name__)


def register() -> None:
    """Make the cluster's schedule say what the settings say, once, however many processes start at once.

    Locks the scheduler's own agent row. Raises `BadSettingError`.
    """
    wanted = AutoRetry.from_settings()
    minutes = dict.fromkeys(ALWAYS, 1)
    if wanted.policy.enabled:
        minutes[RETRY_JOB] = wanted.interval // timedelta(minutes=1)
    with scheduler_locked():
        timetable.keep(minutes)


def retry_pass() -> None:
    """Run the retry gate once, if the settings opt in now, and write one summary row, also of a failed pass."""
    wanted = AutoRetry.from_settings()
    if wanted.policy.enabled:
        caller = Caller.scheduler(scheduler_agent())
        run_pass(replace(caller, request_id=f"pass:{uuid.uuid4()}"), wanted.policy, worded=advice.to_program)


def sweep_pass() -> None:
    """Expire what ran out of time, roll up minutes, drop what is kept no longer, go on with plans.

    No step waits for another to succeed: one that fails is logged and leaves a row, ``a2a_sweep_failed`` with its
    name and the error, and the next pass tries it again.
    """
    caller = Caller(name=SCHEDULER, source=AuditEvent.Source.SCHEDULER, trusted=True)
    failed: dict[str, str] = {}
    for name, step in sweep.steps(caller).items():
        try:
            step()
        except Exception as failure:  # whatever stopped one step, the others are due all the same
            _logger.exception("the sweep failed to %s", name)
            failed[name] = failure_text(failure)
    for name, error in failed.items():
        audit.note(caller, Draft(kind=Kind.SWEEP_FAILED, data={"step": name, "error": error}))
