from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from django.conf import settings
from django.db import models

from mailbox.database.managers import managed_by
from mailbox.models.agent import Agent
from mailbox.words import json_text


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
