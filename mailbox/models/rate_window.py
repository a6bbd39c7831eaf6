from __future__ import annotations

from django.db import models


class RateWindow(models.Model):
    """The recent requests of one key under a rate limit, or a claim to be the first; shared by all processes."""

    key = models.CharField(max_length=300, unique=True)  # what is limited, and for whom
    started_at = models.DateTimeField()  # when it was claimed, or first counted
    # JSON text: [[moment, count], ...], moments in microseconds since 1970; at most a few dozen, oldest first.
    counted = models.TextField(default="[]")

    def __str__(self) -> str:
        return self.key
