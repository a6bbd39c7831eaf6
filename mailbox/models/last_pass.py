from __future__ import annotations

from typing import ClassVar

from django.db import models

from mailbox.database.managers import managed_by


class LastPassQuerySet(models.QuerySet["LastPass"]):
    def of_job(self, job: str) -> LastPass | None:
        """Return the row of the job with this dotted name; None before its first pass."""
        return self.filter(job=job).first()


class LastPass(models.Model):
    """The newest passes of one timed job. The times are by the clock of the process that ran the pass."""

    job = models.CharField(max_length=200, unique=True)  # its dotted name
    started_at = models.DateTimeField(null=True)  # of the newest pass, which may still run
    finished_at = models.DateTimeField(null=True)  # the end of the newest pass that ended, also of a failed pass
    failed_at = models.DateTimeField(null=True)  # the end of the newest pass that failed, wholly or in a step

    objects: ClassVar[LastPassQuerySet] = managed_by(LastPassQuerySet)

    def __str__(self) -> str:
        return self.job
