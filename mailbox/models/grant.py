from __future__ import annotations

import uuid
from typing import Any, ClassVar

from django.db import models
from django.db.models import F, Q

from mailbox.database.compiled import Time
from mailbox.database.managers import managed_by
from mailbox.models.agent import Agent
from mailbox.words import json_text


class CapabilityGrantQuerySet(models.QuerySet["CapabilityGrant"]):
    def live(self, now: Time) -> CapabilityGrantQuerySet:
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
