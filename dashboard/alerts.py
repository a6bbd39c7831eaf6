"""The job that reports long-waiting decisions of the overview to people outside the dashboard."""

import uuid
from collections.abc import Iterator
from datetime import datetime, timedelta

from django.utils import timezone

from dashboard.overview import decisions
from mailbox.access.callers import Caller
from mailbox.access.own_agents import SCHEDULER
from mailbox.database.timetable import ALERT_JOB
from mailbox.inspection.statistics import series
from mailbox.models import AuditEvent
from mailbox.upkeep import alerts, job_passes

AGENTS_NAMED = 50  # of each kind of trouble: more than the overview, so that a name seldom leaves the list


def alert_pass() -> None:
    """Note the decisions that wait now, and report those that wait too long. Raises `AlertError`."""
    now = timezone.now()
    scheduler = Caller(
        name=SCHEDULER, source=AuditEvent.Source.SCHEDULER, trusted=True, request_id=f"pass:{uuid.uuid4()}"
    )
    with job_passes.recorded(ALERT_JOB):
        alerts.note(_concerns(now), now)
        alerts.report(scheduler, now)


def _concerns(now: datetime) -> Iterator[alerts.Concern]:
    """Return the decisions of the overview."""
    figures = series.read(now, start=now - timedelta(hours=1), runs_from=now, sampled=False)
    for one in decisions.find(decisions.OverviewFigures.read(now), figures, now, named=AGENTS_NAMED).decisions:
        yield alerts.Concern(key=one.key, subject=one.subject, text=one.text, path=one.url)
