from __future__ import annotations

from django.db import models


class RateWindow(models.Model):
    """How often one party did one limited thing since ``started_at``; counted exactly, across processes."""

    key = models.CharField(max_length=300, unique=True)  # what is limited, and for whom
    started_at = models.DateTimeField()
    count = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return f"{self.key}: {self.count}"
