from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from django.db import models
from django.db.models import OuterRef, Q, Subquery

from mailbox.database.managers import managed_by
from mailbox.models.agent import Agent


class ReplayEntryQuerySet(models.QuerySet["ReplayEntry"]):
    def live(self, now: datetime) -> ReplayEntryQuerySet:
        return self.filter(Q(expires_at=None) | Q(expires_at__gt=now))

    def expired(self, now: datetime) -> ReplayEntryQuerySet:
        """Narrow to entries whose time to live has passed, the oldest expiry first."""
        return self.filter(expires_at__lte=now).order_by("expires_at")

    def visible_to(self, party: Agent | None) -> ReplayEntryQuerySet:
        """Narrow to entries of tasks that this agent sent or received. None sees all entries."""
        if party is None:
            return self
        return self.filter(Q(sender_pubkey=party.pubkey) | Q(recipient_pubkey=party.pubkey))

    def with_parties(self) -> ReplayEntryQuerySet:
        """Add ``sender`` and ``recipient``, the displays of the agents with those keys; None without such an agent."""
        return self.annotate(sender=_name("sender_pubkey"), recipient=_name("recipient_pubkey"))


class ReplayEntry(models.Model):
    """A cached result. It answers later duplicates of its task.

    It has no foreign keys, because it outlives the compaction of its task. Source: Covenant idempotency policy,
    "Receiver-side result cache".
    """

    cache_key = models.CharField(max_length=64, unique=True)  # digest of the four columns below
    sender_pubkey = models.CharField(max_length=64)
    recipient_pubkey = models.CharField(max_length=64)
    task_kind = models.TextField()  # the declared kind, or without one the whole intent text
    key = models.CharField(max_length=500)  # trimmed
    source_task_id = models.UUIDField()  # the task that earned the result
    status = models.CharField(max_length=10)
    content = models.TextField()  # JSON text, as posted
    error_message = models.TextField(null=True)
    # JSON text of an object: the task's artifacts and the closing words, see `cached_parts`. "{}": it had neither.
    parts = models.TextField(default="{}", db_default="{}")
    stored_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True)  # None: no expiry
    hits = models.PositiveIntegerField(default=0)  # duplicates that this result answered, also waiters
    first_hit_at = models.DateTimeField(null=True)  # None: never, or before this field existed
    last_hit_at = models.DateTimeField(null=True)

    objects: ClassVar[ReplayEntryQuerySet] = managed_by(ReplayEntryQuerySet)

    class Meta:
        verbose_name_plural = "replay entries"
        indexes = [
            # inspection and search: the entries of a sender, of a recipient, and of a key, newest first.
            models.Index(fields=["sender_pubkey", "-id"], name="replay_by_sender"),
            models.Index(fields=["recipient_pubkey", "-id"], name="replay_by_recipient"),
            models.Index(fields=["key", "-id"], name="replay_by_key"),
            # replay.drop_expired: entries whose time to live has passed.
            models.Index(fields=["expires_at"], name="replay_by_expiry", condition=Q(expires_at__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.key} from {self.source_task_id}"


def _name(pubkey: str) -> Subquery:
    return Subquery(Agent.objects.filter(pubkey=OuterRef(pubkey)).values("display"))
