from __future__ import annotations

from typing import Any, ClassVar

from django.db import models
from django.db.models import Sum

from mailbox.database.managers import managed_by

SPANS = (10, 60)  # minutes of a slot: of the last hours, and of the last day


class PairCountQuerySet(models.QuerySet["PairCount"]):
    def since(self, span: int, slot: int) -> PairCountQuerySet:
        return self.filter(span=span, slot__gte=slot)

    def by_pair(self) -> models.QuerySet[PairCount, Any]:
        """Return (sender, recipient, sent, results, errors) of each pair."""
        found: Any = self.order_by().values("sender", "recipient")
        summed = found.annotate(tasks=Sum("sent"), ends=Sum("results"), failed=Sum("errors"))
        pairs: models.QuerySet[PairCount, Any] = summed.values_list("sender", "recipient", "tasks", "ends", "failed")
        return pairs


class PairCount(models.Model):
    """The tasks from one sender to one recipient within a slot of time, and the results of such tasks.

    `mailbox.upkeep.pair_counts` counts them. A slot is ``span`` minutes long, and ``slot`` is its number since 1970.
    """

    span = models.PositiveSmallIntegerField()  # one of SPANS
    slot = models.IntegerField()
    sender = models.ForeignKey("mailbox.Agent", models.CASCADE, related_name="+", db_index=False)
    recipient = models.ForeignKey("mailbox.Agent", models.CASCADE, related_name="+", db_index=False)
    sent = models.PositiveIntegerField(default=0)
    results = models.PositiveIntegerField(default=0)
    errors = models.PositiveIntegerField(default=0)  # part of the results

    objects: ClassVar[PairCountQuerySet] = managed_by(PairCountQuerySet)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["span", "slot", "sender", "recipient"], name="pair_count_unique")
        ]

    def __str__(self) -> str:
        return f"{self.sender_id} to {self.recipient_id}"
