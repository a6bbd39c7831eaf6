from __future__ import annotations

from datetime import datetime, timedelta
from typing import ClassVar

from django.db import models
from django.db.models import Q

from mailbox.database.managers import managed_by


class AlertQuerySet(models.QuerySet["Alert"]):
    def unclaimed(self, now: datetime) -> AlertQuerySet:
        """Narrow to the alerts that no process reports at the moment."""
        return self.filter(Q(claimed_until=None) | Q(claimed_until__lte=now))

    def begins(self, now: datetime, *, after: timedelta, repeat: timedelta) -> AlertQuerySet:
        """Narrow to decisions that wait for ``after`` and are to be reported, again after ``repeat`` (0: never)."""
        again = Q(reported_at__lte=now - repeat) if repeat else Q(pk=None)
        return self.filter(Q(reported_at=None) | again, ended_at=None, began_at__lte=now - after)

    def ends(self) -> AlertQuerySet:
        """Narrow to decisions that were reported and no longer wait. Their end is to be reported."""
        return self.exclude(ended_at=None)

    def oldest_first(self) -> AlertQuerySet:
        return self.order_by("began_at", "pk")


class Alert(models.Model):
    """A decision that waits for a person, and whether people outside the dashboard were informed.

    The row is deleted when the decision no longer waits and its end was reported, or its begin never was.
    """

    key = models.CharField(max_length=300, unique=True)  # names the decision; the same while it waits
    subject = models.TextField()  # what it is about, in words
    text = models.TextField()  # its problem, in words
    path = models.TextField()  # of the dashboard's page for it
    began_at = models.DateTimeField()  # the first pass that noted it
    seen_at = models.DateTimeField()  # the newest pass that noted it
    ended_at = models.DateTimeField(null=True)  # when it no longer waited; null while it waits
    reported_at = models.DateTimeField(null=True)  # the newest report that a channel took; null before it
    claimed_until = models.DateTimeField(null=True)  # a process reports it until then; after a failure the next try
    error = models.TextField(blank=True)  # why the newest report failed; blank after a success

    objects: ClassVar[AlertQuerySet] = managed_by(AlertQuerySet)

    def __str__(self) -> str:
        return f"{self.subject} {self.text}"


class LastPass(models.Model):
    """The newest passes of one timed job. The times are by the clock of the process that ran the pass."""

    job = models.CharField(max_length=200, unique=True)  # its dotted name
    started_at = models.DateTimeField(null=True)  # of the newest pass, which may still run
    finished_at = models.DateTimeField(null=True)  # the end of the newest pass that ended, also of a failed pass
    failed_at = models.DateTimeField(null=True)  # the end of the newest pass that failed, wholly or in a step

    def __str__(self) -> str:
        return self.job
