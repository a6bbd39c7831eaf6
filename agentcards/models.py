"""Who the agents are: what they say of themselves, here and elsewhere."""

from __future__ import annotations

import json
from typing import Any, ClassVar, Self

from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator
from django.db import models
from django.db.models import Q

from agentcards.destinations import BaseUrl
from agentcards.errors import BlockedUrlError
from mailbox import json_text
from mailbox.models import Agent

MOST_NAMES = 1000
LONGEST_NAME = 200
LONGEST_TEXT = 20_000


def validate_names(value: object) -> None:
    """Raise `ValidationError` unless ``value`` is a list of at most `MOST_NAMES` non-blank names."""
    if not isinstance(value, list) or not all(isinstance(name, str) and name.strip() for name in value):
        raise ValidationError("must be a list of names")
    if len(value) > MOST_NAMES or any(len(name) > LONGEST_NAME for name in value):
        raise ValidationError(f"holds more than {MOST_NAMES} names, or one longer than {LONGEST_NAME} characters")
    if problem := json_text.problem_in(value):
        raise ValidationError(problem)


def validate_storable(value: str) -> None:
    """Raise `ValidationError` for text that not both databases can keep."""
    if problem := json_text.problem_with(value):
        raise ValidationError(problem)


def validate_base_url(value: str) -> None:
    """Raise `ValidationError` for a URL that the hub does not call, as far as its spelling tells."""
    try:
        BaseUrl.parse(value)
    except BlockedUrlError as error:
        raise ValidationError(error.message) from error


class AgentProfile(models.Model):
    """What an agent of this hub tells about itself. Source: corvid-agent, agent rows and agent cards."""

    agent = models.OneToOneField(Agent, models.CASCADE, related_name="profile")
    # What people call it, told in the card; blank: the local part of its display.
    name = models.CharField(max_length=200, blank=True, validators=[validate_storable])
    # Blank: the card says what kind of instance it is.
    description = models.TextField(blank=True, validators=[MaxLengthValidator(LONGEST_TEXT), validate_storable])
    # Blank or "custom": not told.
    persona_archetype = models.CharField(max_length=100, blank=True, validators=[validate_storable])
    skill_bundles = models.JSONField(default=list, blank=True, validators=[validate_names])  # names, told in the card
    # Set: takes tasks addressed to nobody by name.
    default_project = models.CharField(max_length=200, blank=True, validators=[validate_storable])
    # Names of the tools it may use, which are its skills; None: the default tools.
    tool_permissions = models.JSONField(null=True, blank=True, validators=[validate_names])
    wallet_address = models.CharField(max_length=200, blank=True, validators=[validate_storable])
    # The base URL of a remote agent: its tasks are carried out there by the hub. Blank: it leases for itself.
    remote_url = models.CharField(max_length=500, blank=True, validators=[validate_base_url])

    def __str__(self) -> str:
        return str(self.agent)

    @classmethod
    def of(cls, agent: Agent) -> Self:
        """Return the agent's profile; one that says nothing, and is not stored, where it has none."""
        return cls.objects.filter(agent=agent).select_related("agent").first() or cls(agent=agent)

    @property
    def shown_name(self) -> str:
        return self.name or self.agent.local


class ToolQuerySet(models.QuerySet["Tool"]):
    def default(self) -> ToolQuerySet:
        return self.filter(is_default=True)

    def in_order(self) -> ToolQuerySet:
        """Order as they were registered, which is the order of skills in a card."""
        return self.order_by("pk")


class Tool(models.Model):
    """An MCP tool that agents may use; each is a skill in the card of an agent that may. Source: corvid-agent."""

    # Such as corvid_web_search; the skill's id.
    name = models.CharField(max_length=LONGEST_NAME, unique=True, validators=[validate_storable])
    # Blank: "Tool: <name>".
    description = models.TextField(blank=True, validators=[MaxLengthValidator(LONGEST_TEXT), validate_storable])
    tags = models.JSONField(default=list, blank=True, validators=[validate_names])  # empty: ["general"]
    is_default = models.BooleanField(default=False)  # used by agents without permissions of their own

    objects: ClassVar[ToolQuerySet] = ToolQuerySet.as_manager()  # type: ignore[assignment]

    def __str__(self) -> str:
        return self.name


class AgentCardQuerySet(models.QuerySet["AgentCard"]):
    def in_order(self) -> AgentCardQuerySet:
        """Order as they were registered; a job that replaces its own card keeps its place."""
        return self.order_by("pk")

    def in_the_way_of(self, job_id: str, name: str) -> AgentCardQuerySet:
        """Return the cards that a registration of ``name`` by ``job_id`` replaces, at most two."""
        return self.filter(Q(job_id=job_id) | Q(name=name))


class AgentCard(models.Model):
    """A card that a running job registered. One per job, one per name. Source: Marianne, AgentCardRegistry."""

    job_id = models.CharField(max_length=200, unique=True)
    name = models.CharField(max_length=200, unique=True)  # taken over by the last job that registers it
    description = models.TextField()
    skills = models.JSONField(default=list)  # [{"id", "description"}], as registered
    registered_at = models.DateTimeField()
    # The agent whose job it is, which alone may replace or remove it, besides operators; None: registered by a
    # person or by code in this process.
    registered_by = models.ForeignKey(Agent, models.CASCADE, null=True, blank=True, related_name="+")

    objects: ClassVar[AgentCardQuerySet] = AgentCardQuerySet.as_manager()  # type: ignore[assignment]

    def __str__(self) -> str:
        return f"{self.name} of {self.job_id}"

    def offers(self, skill_id: str) -> bool:
        return any(skill["id"] == skill_id for skill in self.skills)


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
