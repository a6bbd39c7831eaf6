from __future__ import annotations

from datetime import datetime
from typing import ClassVar

from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator
from django.db import models
from django.db.models import Exists, OuterRef, Q, Value

from agentcards.fields import SealedKeyField, SealedUrlField
from agentcards.models.remote import RemoteOutage
from agentcards.models.validation import (
    LONGEST_NAME,
    LONGEST_TEXT,
    LONGEST_URI,
    validate_base_url,
    validate_extensions,
    validate_key,
    validate_media_types,
    validate_names,
    validate_storable,
    validate_web_url,
)
from mailbox.database.managers import managed_by
from mailbox.models import Agent, Task

_NONE = Value([], models.JSONField())
LONGEST_KEY = 4000


class ToolQuerySet(models.QuerySet["Tool"]):
    def default(self) -> ToolQuerySet:
        return self.filter(is_default=True)

    def in_order(self) -> ToolQuerySet:
        """Sort by registration, the order of skills in a card."""
        return self.order_by("pk")


class Tool(models.Model):
    """An MCP tool that agents may use. It is a skill in the cards of these agents. Source: corvid-agent."""

    # The id of the skill, for example corvid_web_search.
    name = models.CharField(max_length=LONGEST_NAME, unique=True, validators=[validate_storable])
    # Blank: cards show "Tool: <name>".
    description = models.TextField(blank=True, validators=[MaxLengthValidator(LONGEST_TEXT), validate_storable])
    tags = models.JSONField(default=list, blank=True, validators=[validate_names])  # empty: ["general"]
    is_default = models.BooleanField(default=False)  # for agents whose profile lists no permissions

    objects: ClassVar[ToolQuerySet] = managed_by(ToolQuerySet)

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        self.tags = self.tags or []


class AgentProfileQuerySet(models.QuerySet["AgentProfile"]):
    def remote(self) -> AgentProfileQuerySet:
        """Narrow to remote agents: the hub calls them at their own URL."""
        return self.exclude(remote_url="", card_url="")

    def with_work(self) -> AgentProfileQuerySet:
        """Narrow to agents that could lease a task now."""
        waiting = Task.objects.leasable().filter(recipient=OuterRef("agent"))
        return self.filter(Exists(waiting), agent__paused_at=None)

    def callable_at(self, now: datetime) -> AgentProfileQuerySet:
        """Leave out agents whose next call is put off, because the hub could not connect to their URL."""
        put_off = RemoteOutage.objects.put_off(now).filter(agent=OuterRef("agent"))
        return self.exclude(Exists(put_off))


class AgentProfile(models.Model):
    """The description of an agent, and its settings. Source: corvid-agent, agent rows and agent cards."""

    agent = models.OneToOneField(Agent, models.CASCADE, related_name="profile")
    # The name in the card. Blank: the local part of the agent's display.
    name = models.CharField(max_length=200, blank=True, validators=[validate_storable])
    # Blank: the card says "<hub name> instance".
    description = models.TextField(blank=True, validators=[MaxLengthValidator(LONGEST_TEXT), validate_storable])
    # Blank or "custom": not shown in the card.
    persona_archetype = models.CharField(max_length=100, blank=True, validators=[validate_storable])
    skill_bundles = models.JSONField(default=list, blank=True, validators=[validate_names])  # names, shown in the card
    # If set, the agent may get tasks that name no recipient.
    default_project = models.CharField(max_length=200, blank=True, validators=[validate_storable])
    # Names of the tools it may use; they are its skills. None: the default tools.
    tool_permissions = models.JSONField(null=True, blank=True, validators=[validate_names])
    wallet_address = models.CharField(max_length=200, blank=True, validators=[validate_storable])
    # The base URL of a remote agent: the hub submits its tasks there. Blank: the agent leases its tasks itself.
    # Encrypted if it has credentials.
    remote_url = SealedUrlField(max_length=500, blank=True, validators=[validate_base_url])
    # The URL of the card of a remote agent that speaks the official protocol, or its base URL. Blank: as above.
    # Encrypted if it has credentials.
    card_url = SealedUrlField(max_length=500, blank=True, default="", db_default="", validators=[validate_base_url])
    # The hub's API key at that agent, encrypted. Blank: none. Never shown.
    card_key = SealedKeyField(
        max_length=LONGEST_KEY, blank=True, default="", db_default="", editable=False, validators=[validate_key]
    )

    # The card of the official protocol. The media types that the agent takes and makes; empty: the default types.
    input_modes = models.JSONField(default=list, db_default=_NONE, blank=True, validators=[validate_media_types])
    output_modes = models.JSONField(default=list, db_default=_NONE, blank=True, validators=[validate_media_types])
    # The version of the agent. Blank: the version of the hub.
    card_version = models.CharField(
        max_length=100, default="", db_default="", blank=True, validators=[validate_storable]
    )
    documentation_url = models.CharField(
        max_length=LONGEST_URI, default="", db_default="", blank=True, validators=[validate_web_url]
    )
    icon_url = models.CharField(
        max_length=LONGEST_URI, default="", db_default="", blank=True, validators=[validate_web_url]
    )
    # The hub offers these for the agent.
    streaming = models.BooleanField(default=True, db_default=True)
    push_notifications = models.BooleanField(default=True, db_default=True)
    extended_card = models.BooleanField(default=True, db_default=True)
    card_for_0_3 = models.BooleanField(default=True, db_default=True)  # the card also serves clients of version 0.3
    # A repeated message of the official protocol is found by its id, as one with an Idempotency-Key is by that.
    message_id_is_key = models.BooleanField(default=False, db_default=False)
    # [{"uri", "description", "required", "params"}]; all but the URI may be left out. A required one binds each client.
    extensions = models.JSONField(default=list, db_default=_NONE, blank=True, validators=[validate_extensions])
    # Names of the tools that only the extended card shows.
    extended_tools = models.JSONField(default=list, db_default=_NONE, blank=True, validators=[validate_names])
    changed_at = models.DateTimeField(null=True, editable=False)  # None: not since the hub keeps this time

    objects: ClassVar[AgentProfileQuerySet] = managed_by(AgentProfileQuerySet)

    def __str__(self) -> str:
        return str(self.agent)

    def clean(self) -> None:
        for name in ("skill_bundles", "input_modes", "output_modes", "extensions", "extended_tools"):
            setattr(self, name, getattr(self, name) or [])
        self.check_remote()

    def check_remote(self) -> None:
        """Raise `ValidationError` for two ways to one agent, and for a key without an agent that takes it."""
        if self.remote_url and self.card_url:
            raise ValidationError({"card_url": "the agent has a remote URL; empty that first"})
        if self.card_key and not self.card_url:
            raise ValidationError({"card_url": "is required with a key"})

    @property
    def is_remote(self) -> bool:
        return bool(self.remote_url or self.card_url)

    @property
    def called_url(self) -> str:
        """The URL at which the hub calls a remote agent, "" for another agent."""
        return self.remote_url or self.card_url

    @classmethod
    def of(cls, agent: Agent) -> AgentProfile:
        """Return the agent's profile: an empty, unsaved profile if it has none."""
        return next(iter(cls.objects.filter(agent=agent).select_related("agent")), None) or cls(agent=agent)

    def has(self, tool: Tool) -> bool:
        """Whether a registered tool is one of the agent's skills."""
        return tool.is_default if self.tool_permissions is None else tool.name in self.tool_permissions

    @property
    def shown_name(self) -> str:
        return self.name or self.agent.local


class AgentCardQuerySet(models.QuerySet["AgentCard"]):
    def in_order(self) -> AgentCardQuerySet:
        """Sort by registration. A job that replaces its own card keeps its place."""
        return self.order_by("pk")

    def of_agent(self, agent: Agent) -> AgentCardQuerySet:
        """Narrow to the cards of this agent's jobs."""
        return self.filter(registered_by=agent)

    def in_the_way_of(self, job_id: str, name: str) -> AgentCardQuerySet:
        """Return the cards that a registration of ``name`` by ``job_id`` replaces, at most two."""
        return self.filter(Q(job_id=job_id) | Q(name=name))


class AgentCard(models.Model):
    """A card that a running job registered. One per job, one per name. Source: Marianne, AgentCardRegistry."""

    job_id = models.CharField(max_length=200, unique=True)
    name = models.CharField(max_length=200, unique=True)  # belongs to the last job that registered it
    description = models.TextField()
    skills = models.JSONField(default=list)  # [{"id", "description"}], as registered
    registered_at = models.DateTimeField()
    # The agent that owns the job. Only it and operators may replace or remove the card. None: registered by a person
    # or by code in this process.
    registered_by = models.ForeignKey(Agent, models.CASCADE, null=True, blank=True, related_name="+")

    objects: ClassVar[AgentCardQuerySet] = managed_by(AgentCardQuerySet)

    def __str__(self) -> str:
        return f"{self.name} of {self.job_id}"

    def offers(self, skill_id: str) -> bool:
        return any(skill["id"] == skill_id for skill in self.skills)
