from __future__ import annotations

from django.db import models


class LastPass(models.Model):
    """The newest passes of one timed job. The times are by the clock of the process that ran the pass."""

    job = models.CharField(max_length=200, unique=True)  # its dotted name
    started_at = models.DateTimeField(null=True)  # of the newest pass, which may still run
    finished_at = models.DateTimeField(null=True)  # the end of the newest pass that ended, also of a failed pass
    failed_at = models.DateTimeField(null=True)  # the end of the newest pass that failed, wholly or in a step

    def __str__(self) -> str:
        return self.job
