from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any, ClassVar, Self

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Lower

from mailbox.database import managers
from mailbox.database.managers import Moment, managed_by
from mailbox.words import json_text
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
        return managers.instance_of(cls, _IDENTITY, (pk, display, pubkey))

    def last_called_at(self) -> datetime | None:
        """Return the time of its last call, None for never.

        The row must come from `mailbox.inspection.statistics.backlogs.with_signs`.
        """
        signs: list[datetime | None] = [getattr(self, name) for name in ("key_used_at", "route_used_at", "signed_at")]
        return max((sign for sign in signs if sign is not None), default=None)


class CapabilityGrantQuerySet(models.QuerySet["CapabilityGrant"]):
    def live(self, now: Moment) -> CapabilityGrantQuerySet:
        """Narrow to grants that are not revoked, not past their expiry, and have uses left.

        A grant is still live at the instant of its expiry.
        """
        return self.filter(
            Q(expires_at=None) | Q(expires_at__gte=now),
            Q(max_uses=None) | Q(uses__lt=F("max_uses")),
            revoked_at=None,
        )

    def visible_to(self, party: Agent | None) -> CapabilityGrantQuerySet:
        """Narrow to grants that this agent holds or passed on. None sees all grants."""
        return self if party is None else self.filter(Q(subject=party) | Q(passed_on_from__subject=party))


class CapabilityGrant(models.Model):
    """The permission of one agent to take one action. Source: Covenant A2A, "Capability gating"."""

    grant_id = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    subject = models.ForeignKey("mailbox.Agent", models.CASCADE, related_name="grants")
    action = models.CharField(max_length=300)  # such as a2a.send.<agent> or a2a.compact
    scope = models.TextField(default="{}")  # JSON text; {} admits any request
    expires_at = models.DateTimeField(null=True, blank=True)  # None: no expiry
    max_uses = models.PositiveIntegerField(null=True, blank=True)  # None: any number
    uses = models.PositiveIntegerField(default=0)  # counted in the transaction that uses the grant
    granted_by = models.CharField(max_length=250)  # the actor, as the journal names it
    passed_on_from = models.ForeignKey("self", models.CASCADE, null=True, blank=True)  # None: no agent passed it on
    created_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)  # set once; None: not revoked

    objects: ClassVar[CapabilityGrantQuerySet] = managed_by(CapabilityGrantQuerySet)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(max_uses=None) | Q(uses__lte=F("max_uses")), name="grant_uses_within_max"
            )
        ]

    def __str__(self) -> str:
        return f"{self.action} for {self.subject_id}"

    @property
    def pins(self) -> dict[str, Any]:
        """The scope without its version: the required values of the request's fields, by name."""
        scope: dict[str, Any] = json_text.loads(self.scope)
        return {name: value for name, value in scope.items() if name != "version" and value is not None}


class PeerQuerySet(models.QuerySet["Peer"]):
    def of_agent(self, agent: Agent) -> PeerQuerySet:
        """Narrow to the peers that use this agent's credentials."""
        return self.filter(agent=agent)

    def visible_to(self, party: Agent | None) -> PeerQuerySet:
        """Narrow to the peers of this agent. None sees all peers."""
        return self if party is None else self.of_agent(party)

    def last_seen_first(self) -> PeerQuerySet:
        return self.order_by("-last_seen_at", "-pk")


class Peer(models.Model):
    """Another system that reports to the hub that it is alive. Source: SecureYeoman, PeerAgent.

    Its own id proves nothing, because most call themselves ``self``. So it is unique only within the agent whose
    credential it uses.
    """

    class Status(models.TextChoices):
        ONLINE = "online"
        SUSPECT = "suspect"  # a heartbeat is missing
        OFFLINE = "offline"  # several heartbeats are missing, or it announced that it leaves

    agent = models.ForeignKey(
        "mailbox.Agent", models.CASCADE, related_name="peers"
    )  # the agent whose credential it uses
    peer_id = models.CharField(max_length=200)  # its own id, cut to this length
    name = models.CharField(max_length=200, blank=True)  # the name that it announced; blank without one
    url = models.CharField(max_length=500, blank=True)  # the address that it announced; the hub never calls it
    capabilities = models.TextField(default="[]")  # JSON text, as announced
    first_seen_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()  # the newest heartbeat or announcement
    left_at = models.DateTimeField(null=True)  # when it announced that it leaves; cleared by the next heartbeat

    objects: ClassVar[PeerQuerySet] = managed_by(PeerQuerySet)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["agent", "peer_id"], name="peer_unique_per_agent")]
        indexes = [models.Index(fields=["-last_seen_at", "-id"], name="peer_last_seen")]

    def __str__(self) -> str:
        return f"{self.name or self.peer_id} by {self.agent_id}"

    @property
    def announced(self) -> Any:
        """The capabilities that it announced, as JSON of any shape."""
        return json_text.loads(self.capabilities)

    def status(self, now: datetime) -> Status:
        """Return its status at ``now``, by the age of its last report."""
        age = now - self.last_seen_at
        if self.left_at is not None or age > settings.A2A_PEER_OFFLINE_AFTER:
            return Peer.Status.OFFLINE
        return Peer.Status.SUSPECT if age > settings.A2A_PEER_SUSPECT_AFTER else Peer.Status.ONLINE
