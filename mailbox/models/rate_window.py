from __future__ import annotations

from django.db import models


class RateWindow(models.Model):
    """The recent requests under one limit, or the first claim of `rate_windows.once`. All processes share the rows."""

    key = models.CharField(max_length=300, unique=True)  # the limited action and its caller
    started_at = models.DateTimeField()  # the time of the claim, or of the first request
    # JSON text: [[moment, count], ...], moments in microseconds since 1970; at most a few dozen, oldest first.
    counted = models.TextField(default="[]")

    def __str__(self) -> str:
        return self.key
