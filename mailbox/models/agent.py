from __future__ import annotations

from datetime import datetime
from typing import ClassVar, Self

from django.db import models
from django.db.models.functions import Lower

from mailbox.database.managers import managed_by
from mailbox.words.envelopes import AgentRef
from mailbox.words.errors import UnknownAgentError


class AgentQuerySet(models.QuerySet["Agent"]):
    def fitting(self, ref: AgentRef) -> list[Agent]:
        """Return the agents that ``ref`` may mean: none, one, or for a bare local part the first two."""
        if ref.pubkey is not None:
            return list(self.filter(pubkey=ref.pubkey))
        if ref.display is not None and "@" not in ref.display:
            return list(self.filter(local=ref.display)[:2])
        return list(self.filter(display=ref.display))

    def named(self, ref: AgentRef) -> Agent:
        """Return the agent that ``ref`` means; raise `UnknownAgentError`.

        A public key decides alone. A bare local part must fit exactly one agent.
        """
        found = self.fitting(ref)
        if len(found) != 1:
            raise UnknownAgentError(
                f'"{ref}" fits more than one agent; say which host'
                if found
                else f'no agent "{ref}" is registered here',
                agent=ref,
            )
        return found[0]

    def spelled_like(self, display: str) -> Agent | None:
        """Return the agent of this display whatever its case; None when there is none."""
        return self.annotate(folded=Lower("display")).filter(folded=display.lower()).first()

    def paused(self) -> AgentQuerySet:
        return self.filter(paused_at__isnull=False)


class Agent(models.Model):
    """A party that sends or receives tasks. Source: Covenant A2A, AgentId.

    Identity is the public key; the display is its name, unique ignoring case, compared exactly.
    """

    # The task row is locked per task; an agent row is never locked by a verb of the task's life.
    display = models.CharField(max_length=200)  # local@host, set once at registration
    local = models.CharField(max_length=200, db_index=True)  # the part of display before the @
    pubkey = models.CharField(max_length=64, unique=True)  # base58 of the 32 bytes of an Ed25519 key
    created_at = models.DateTimeField()
    paused_at = models.DateTimeField(null=True, blank=True)  # None: leasing; set: its tasks wait
    paused_reason = models.TextField(blank=True)  # why an operator paused it; blank when not paused

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
        """Return an instance that knows only who it is, as the credential look-up read it."""
        return cls.from_db(None, ["id", "display", "pubkey"], [pk, display, pubkey])

    def last_called_at(self) -> datetime | None:
        """When it last called, on a row from `mailbox.inspection.backlogs.with_signs`."""
        signs: list[datetime | None] = [getattr(self, name) for name in ("key_used_at", "route_used_at")]
        return max((sign for sign in signs if sign is not None), default=None)
