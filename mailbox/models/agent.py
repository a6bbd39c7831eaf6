from __future__ import annotations

from datetime import datetime
from typing import ClassVar, Self

from django.db import models
from django.db.models.functions import Lower

from mailbox.database import instances
from mailbox.database.managers import managed_by
from mailbox.words.envelopes import AgentRef, is_pubkey
from mailbox.words.errors import InvalidRequestError

_IDENTITY = ("id", "display", "pubkey")
NAMESAKES = 5  # agents of one local part that a look-up reads


class AgentQuerySet(models.QuerySet["Agent"]):
    def fitting(self, ref: AgentRef) -> list[Agent]:
        """Return the agents that ``ref`` fits: none, one, or for a bare local part the first by display.

        A bare local part means the agent at the host ``local``, if there is one, so that no other host makes it
        ambiguous.
        """
        if ref.pubkey is not None:
            return list(self.filter(pubkey=ref.pubkey))
        if ref.display is not None and "@" not in ref.display:
            own = self.filter(display=f"{ref.display}@local")
            return list(own) or list(self.filter(local=ref.display).order_by("display")[:NAMESAKES])
        return list(self.filter(display=ref.display))

    def typed(self, text: str) -> list[Agent]:
        """Return the agents that a person or a path names by a public key, a display or a local part."""
        if is_pubkey(text):
            return self.fitting(AgentRef(pubkey=text))
        try:
            return self.fitting(AgentRef.parse(text))
        except InvalidRequestError:
            return []

    def spelled_like(self, display: str) -> Agent | None:
        """Return the agent of this display, ignoring case; None without one."""
        return self.annotate(folded=Lower("display")).filter(folded=display.lower()).first()

    def paused(self) -> AgentQuerySet:
        return self.filter(paused_at__isnull=False)


class Agent(models.Model):
    """A party that sends or receives tasks. Source: Covenant A2A, AgentId.

    The public key identifies the agent. The display is its name. No two displays differ only in case, but a display is
    compared exactly.
    """

    # The verbs of a task's life lock the task row, and never an agent row.
    display = models.CharField(max_length=200)  # local@host, set once at registration
    local = models.CharField(max_length=200, db_index=True)  # the part of display before the @
    pubkey = models.CharField(max_length=64, unique=True)  # base58 of the 32 bytes of an Ed25519 key
    created_at = models.DateTimeField()
    paused_at = models.DateTimeField(null=True, blank=True)  # None: not paused
    paused_reason = models.TextField(blank=True)  # why it was paused; blank if it is not

    objects: ClassVar[AgentQuerySet] = managed_by(AgentQuerySet)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["display"], name="agent_display_unique"),
            models.UniqueConstraint(Lower("display"), name="agent_display_unique_ignoring_case"),
        ]

    def __str__(self) -> str:
        return self.display

    @classmethod
    def from_identity(cls, pk: int, display: str, pubkey: str) -> Self:
        """Return an instance with these three fields alone, as the credential look-up read them."""
        return instances.of_row(cls, _IDENTITY, (pk, display, pubkey))

    def last_called_at(self) -> datetime | None:
        """Return the time of its last call, None for never.

        The row must come from `mailbox.inspection.statistics.backlogs.with_signs`.
        """
        signs: list[datetime | None] = [getattr(self, name) for name in ("key_used_at", "route_used_at", "signed_at")]
        return max((sign for sign in signs if sign is not None), default=None)
