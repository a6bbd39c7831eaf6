"""The jobs that the task cluster runs on a timer.

The timetable holds the dotted name of each job. A job takes no arguments. It returns why its pass failed, None after a
success. The cluster may run a job twice, so each job is safe to run twice at once.
"""

import logging
import uuid
from dataclasses import replace
from datetime import timedelta

from mailbox.access import audit
from mailbox.access.callers import Caller
from mailbox.access.own_agents import SCHEDULER
from mailbox.database import outages, timetable
from mailbox.database.timetable import ALERT_JOB, RETRY_JOB, SWEEP_JOB
from mailbox.journal import task_entries
from mailbox.models import AuditEvent
from mailbox.repairs.auto_retry import AutoRetry, failure_text, run_pass, scheduler_agent, scheduler_locked
from mailbox.upkeep import alerts, job_passes, sweep
from mailbox.words import errors

ALWAYS = (SWEEP_JOB,)  # run every minute, the shortest interval of the cluster
_logger = logging.getLogger(__name__)


def register() -> None:
    """Bring the cluster's schedule in line with the settings. Raises `BadSettingError`.

    Locks the row of the scheduler's agent, so that processes that start together create each job once.
    """
    wanted = AutoRetry.from_settings()
    minutes = dict.fromkeys(ALWAYS, 1)
    if wanted.policy.enabled:
        minutes[RETRY_JOB] = wanted.interval // timedelta(minutes=1)
    if alerts.channels():
        minutes[ALERT_JOB] = 1
    with scheduler_locked():
        timetable.keep(minutes)


def retry_pass() -> str | None:
    """Run the automatic retry once if the settings enable it. Journals one summary row, also for a failed pass."""
    wanted = AutoRetry.from_settings()
    if not wanted.policy.enabled:
        return None
    with job_passes.recorded(RETRY_JOB) as this:
        caller = replace(Caller.scheduler(scheduler_agent()), request_id=f"pass:{uuid.uuid4()}")
        error: str | None = run_pass(caller, wanted.policy, worded=errors.text_for_program).fields["error"]
        this.failed = error is not None
    return error


def sweep_pass() -> str | None:
    """Run every step of the sweep: expire tasks, roll up minutes, delete old rows, continue repair plans.

    A step that fails does not stop the others. Its failure is logged and journalled as ``a2a_sweep_failed``, with the
    name of the step and the error. The next pass runs the step again.
    """
    caller = Caller(name=SCHEDULER, source=AuditEvent.Source.SCHEDULER, trusted=True)
    failed: dict[str, str] = {}
    with job_passes.recorded(SWEEP_JOB) as this:
        for name, step in sweep.steps(caller).items():
            try:
                step()
            except Exception as failure:  # any failure of a step must leave the other steps running
                if not outages.noted(failure):
                    _logger.exception("the sweep failed to %s", name)
                failed[name] = failure_text(failure)
        this.failed = bool(failed)
        for name, error in failed.items():
            audit.note(caller, task_entries.SweepFailedEntry(name, error))
    return "\n".join(f"failed to {name}: {error}" for name, error in failed.items()) or None
