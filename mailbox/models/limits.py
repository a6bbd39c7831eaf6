"""The stock of each agent at the hub, as upper bounds that a send raises."""

from django.db import models


class SenderStock(models.Model):
    """The stock of one sender: its queued tasks, their bytes, and its callbacks.

    The counts are upper bounds. A send adds to them under the lock of this row, and refuses at the quota. No other verb
    subtracts from them, except compaction from ``size``. A send at the quota counts the true stock first. Each process
    adds the bytes of results from a mebibyte on, so ``size`` may lack less than that for each process.
    """

    agent = models.OneToOneField("mailbox.Agent", models.CASCADE, primary_key=True, related_name="stock")
    queued = models.PositiveIntegerField(default=0)  # tasks
    size = models.PositiveBigIntegerField(default=0)  # bytes of its tasks that were not compacted
    callbacks = models.PositiveIntegerField(default=0)  # still to come, or due
    # The quotas of this agent; None: the setting.
    max_queued = models.PositiveIntegerField(null=True)
    max_size = models.PositiveBigIntegerField(null=True)
    max_callbacks = models.PositiveIntegerField(null=True)
    max_waits = models.PositiveIntegerField(null=True)
    max_cards = models.PositiveIntegerField(null=True)
    max_requests_per_s = models.PositiveIntegerField(null=True)  # 0: any number

    def __str__(self) -> str:
        return f"stock of agent {self.agent_id}"


class PairStock(models.Model):
    """The queued tasks of one sender for one recipient, as an upper bound like those of `SenderStock`."""

    sender = models.ForeignKey("mailbox.Agent", models.CASCADE, related_name="+", db_index=False)
    recipient = models.ForeignKey("mailbox.Agent", models.CASCADE, related_name="+")
    queued = models.PositiveIntegerField(default=0)  # tasks
    max_queued = models.PositiveIntegerField(null=True)  # the quota of this pair; None: the setting

    class Meta:
        constraints = [models.UniqueConstraint(fields=["sender", "recipient"], name="pair_stock_unique")]

    def __str__(self) -> str:
        return f"stock of agent {self.sender_id} for agent {self.recipient_id}"


class RateWindow(models.Model):
    """The recent requests under one limit, or the first claim of `rate_windows.once`. All processes share the rows."""

    key = models.CharField(max_length=300, unique=True)  # the limited action and its caller
    started_at = models.DateTimeField()  # the time of the claim, or of the first request
    # JSON text: [[moment, count], ...], moments in microseconds since 1970; at most a few dozen, oldest first.
    counted = models.TextField(default="[]")

    def __str__(self) -> str:
        return self.key
