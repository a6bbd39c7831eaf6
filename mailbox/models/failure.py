from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

from django.db import models
from django.db.models import Count, F, Max, Min

from mailbox.database.managers import managed_by
from mailbox.models.agent import Agent
from mailbox.words.digests import DIGITS

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def minute_of(moment: datetime) -> int:
    """Return the whole minutes from 1970 until ``moment``."""
    return (moment - EPOCH) // MINUTE


def moment_of(minute: int) -> datetime:
    return EPOCH + minute * MINUTE


class FailureQuerySet(models.QuerySet["Failure"]):
    def since(self, minute: int) -> FailureQuerySet:
        return self.filter(minute__gte=minute)

    def of_agent(self, agent: Agent | None) -> FailureQuerySet:
        return self if agent is None else self.filter(agent=agent)  # None: any agent

    def minute_beyond(self, most: int) -> int | None:
        """Return the newest minute that is not wholly among the ``most`` newest of these failures; None without one."""
        return self.order_by("-minute").values_list("minute", flat=True)[most : most + 1].first()

    def by_fingerprint(self) -> models.QuerySet[Failure, Any]:
        """Return (fingerprint, agent, outcome, count, first minute, last minute, newest task) of each group."""
        failures: Any = self.order_by().values("fingerprint", "agent", "outcome")
        summed = failures.annotate(count=Count("pk"), first=Min("minute"), last=Max("minute"), sample=Max("pk"))
        groups: models.QuerySet[Failure, Any] = summed.values_list(
            "fingerprint", "agent", "outcome", "count", "first", "last", "sample"
        )
        return groups

    def by_slot(self, minutes: int) -> models.QuerySet[Failure, Any]:
        """Return (fingerprint, slot, count) of each group and time slot of so many minutes, counted from 1970."""
        failures: Any = self.order_by().annotate(slot=F("minute") / minutes).values("fingerprint", "slot")
        slots: models.QuerySet[Failure, Any] = failures.annotate(count=Count("pk")).values_list(
            "fingerprint", "slot", "count"
        )
        return slots


class Failure(models.Model):
    """The fingerprint of a failed task, so that failures of one cause are found together.

    `mailbox.upkeep.failure_filing` makes the rows soon after the results. A row goes with its task. The message stays
    in the result alone.
    """

    # Without a constraint of the database, because the version before deletes tasks and no row of this table.
    task = models.OneToOneField(
        "mailbox.Task", models.CASCADE, primary_key=True, related_name="failure", db_constraint=False
    )
    agent = models.ForeignKey("mailbox.Agent", models.PROTECT, related_name="+", db_index=False)  # the recipient
    fingerprint = models.CharField(max_length=DIGITS)  # see `mailbox.words.digests`
    outcome = models.CharField(max_length=10)  # of the task
    minute = models.IntegerField()  # when the result was posted, in whole minutes since 1970

    objects: ClassVar[FailureQuerySet] = managed_by(FailureQuerySet)

    class Meta:
        indexes = [
            models.Index(fields=["minute"], name="failure_by_minute"),
            models.Index(fields=["agent", "minute"], name="failure_by_agent"),
            models.Index(fields=["fingerprint", "task"], name="failure_by_fingerprint"),
            models.Index(fields=["fingerprint", "minute"], name="failure_by_print_and_minute"),
        ]

    def __str__(self) -> str:
        return f"failure {self.fingerprint} of task {self.task_id}"
