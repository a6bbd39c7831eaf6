from __future__ import annotations

from typing import ClassVar, Self

from django.apps import apps
from django.db import models
from django.db.models import Count, OuterRef, Subquery
from django.db.models.functions import Coalesce, Lower

from mailbox.envelopes import AgentRef
from mailbox.errors import UnknownAgentError


class AgentQuerySet(models.QuerySet["Agent"]):
    def named(self, ref: AgentRef) -> Agent:
        """Return the agent that ``ref`` means; raise `UnknownAgentError`.

        A public key decides alone. A bare local part must fit exactly one agent.
        """
        if ref.pubkey is not None:
            found = list(self.filter(pubkey=ref.pubkey))
        elif ref.display is not None and "@" not in ref.display:
            found = list(self.filter(local=ref.display)[:2])
        else:
            found = list(self.filter(display=ref.display))
        if len(found) != 1:
            raise UnknownAgentError(
                f'"{ref}" fits more than one agent; say which host'
                if found
                else f'no agent "{ref}" is registered here',
                agent=ref,
            )
        return found[0]

    def with_backlog(self) -> AgentQuerySet:
        """Add ``queued``, how many tasks wait for the agent, and ``leased``, how many it holds."""
        queued = self._counted(apps.get_model("mailbox", "Task"), "recipient", state="queued")
        leased = self._counted(apps.get_model("mailbox", "Lease"), "holder", ended_at=None)
        return self.annotate(queued=queued, leased=leased)

    def paused(self) -> AgentQuerySet:
        return self.filter(paused_at__isnull=False)

    def busiest_first(self) -> AgentQuerySet:
        """Order agents with their backlog."""
        return self.order_by("-queued", "-leased", "display")

    @staticmethod
    def _counted(model: type[models.Model], party: str, **state: object) -> Coalesce:
        rows = model._default_manager.filter(**{party: OuterRef("pk")}, **state).order_by()
        return Coalesce(Subquery(rows.values(party).annotate(number=Count("pk")).values("number")), 0)


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

    objects: ClassVar[AgentQuerySet] = AgentQuerySet.as_manager()  # type: ignore[assignment]

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

    @property
    def forms(self) -> tuple[str, str]:
        """The two spellings by which capabilities may name this agent."""
        return self.display, self.pubkey
