"""Who the agents are: what they say of themselves, here and elsewhere."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from django.core.exceptions import ValidationError
from django.db import models

from mailbox.models import Agent


def validate_names(value: object) -> None:
    """Raise `ValidationError` unless ``value`` is a list of non-blank strings."""
    if not isinstance(value, list) or not all(isinstance(name, str) and name.strip() for name in value):
        raise ValidationError("must be a list of names")


class AgentProfile(models.Model):
    """What an agent of this hub tells about itself. Source: corvid-agent, agent rows and agent cards."""

    agent = models.OneToOneField(Agent, models.CASCADE, related_name="profile")
    description = models.TextField(blank=True)  # blank: the card says what kind of instance it is
    persona_archetype = models.CharField(max_length=100, blank=True)  # blank or "custom": not told
    skill_bundles = models.JSONField(default=list, blank=True, validators=[validate_names])  # names, told in the card
    default_project = models.CharField(max_length=200, blank=True)  # set: takes tasks addressed to nobody by name
    # Names of the tools it may use, which are its skills; None: the default tools.
    tool_permissions = models.JSONField(null=True, blank=True, validators=[validate_names])
    wallet_address = models.CharField(max_length=200, blank=True)
    # The base URL of a remote agent: its tasks are carried out there by the hub. Blank: it leases for itself.
    remote_url = models.URLField(max_length=500, blank=True)

    def __str__(self) -> str:
        return str(self.agent)


class ToolQuerySet(models.QuerySet["Tool"]):
    def default(self) -> ToolQuerySet:
        return self.filter(is_default=True)

    def in_order(self) -> ToolQuerySet:
        """Order as they were registered, which is the order of skills in a card."""
        return self.order_by("pk")


class Tool(models.Model):
    """An MCP tool that agents may use; each is a skill in the card of an agent that may. Source: corvid-agent."""

    name = models.CharField(max_length=200, unique=True)  # such as corvid_web_search; the skill's id
    description = models.TextField(blank=True)  # blank: "Tool: <name>"
    tags = models.JSONField(default=list, blank=True, validators=[validate_names])  # empty: ["general"]
    is_default = models.BooleanField(default=False)  # used by agents without permissions of their own

    objects: ClassVar[ToolQuerySet] = ToolQuerySet.as_manager()  # type: ignore[assignment]

    def __str__(self) -> str:
        return self.name


class AgentCard(models.Model):
    """A card that a running job registered. One per job, one per name. Source: Marianne, AgentCardRegistry."""

    job_id = models.CharField(max_length=200, unique=True)
    name = models.CharField(max_length=200, unique=True)  # taken over by the last job that registers it
    description = models.TextField()
    skills = models.JSONField(default=list)  # [{"id", "description"}], as registered
    registered_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.name} of {self.job_id}"


class RemoteCard(models.Model):
    """A remote agent's card as it was last fetched, shared by all processes. Source: corvid-agent, card cache."""

    url = models.CharField(max_length=600, unique=True)  # of the card itself
    document = models.TextField()  # JSON text, as received
    fetched_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.url

    @property
    def card(self) -> dict[str, Any]:
        loaded: dict[str, Any] = json.loads(self.document)
        return loaded
