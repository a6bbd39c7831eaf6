from __future__ import annotations

from django.db import models


class RateWindow(models.Model):
    """What one party did of one limited thing of late, or that it claimed to be the first to do it; across processes."""

    key = models.CharField(max_length=300, unique=True)  # what is limited, and for whom
    started_at = models.DateTimeField()  # when it was claimed, or first counted
    # JSON text: [[moment, count], ...], moments in microseconds since 1970; at most a few dozen, oldest first.
    counted = models.TextField(default="[]")

    def __str__(self) -> str:
        return self.key
