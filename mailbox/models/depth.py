from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q

from mailbox.database.managers import managed_by


class DepthQuerySet(models.QuerySet["Depth"]):
    def of(self, agent: int | None) -> DepthQuerySet:
        """Narrow to the rows of one agent, by primary key; None is the whole hub."""
        return self.filter(agent=agent)


class Depth(models.Model):
    """The numbers of tasks at one minute, of one agent or of the whole hub. `mailbox.upkeep.rollups` counts them.

    An agent that has nothing to do has no row. A minute without a row of the hub was not counted.
    """

    agent = models.ForeignKey(  # the recipient and holder; None: the whole hub
        "mailbox.Agent", models.CASCADE, null=True, related_name="+", db_index=False
    )
    minute = models.DateTimeField()
    queued = models.PositiveIntegerField()
    leased = models.PositiveIntegerField()
    stale = models.PositiveIntegerField()  # those of the leases that are stale

    objects: ClassVar[DepthQuerySet] = managed_by(DepthQuerySet)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["agent", "minute"], name="depth_once_per_agent_and_minute"),
            models.UniqueConstraint(fields=["minute"], condition=Q(agent=None), name="depth_once_per_minute"),
        ]
        indexes = [models.Index(fields=["minute"], name="depth_minute")]  # depths.measure: old rows to delete

    def __str__(self) -> str:
        return f"{self.minute:%Y-%m-%d %H:%M}"
