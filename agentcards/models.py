"""Who the agents are: what they say of themselves, here and elsewhere."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any, ClassVar

from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator
from django.db import models
from django.db.models import Exists, OuterRef, Q

from mailbox.database.managers import managed_by
from mailbox.models import Agent, Task
from mailbox.outbound.destinations import BaseUrl
from mailbox.outbound.errors import BlockedUrlError
from mailbox.words import json_text

MOST_NAMES = 1000
LONGEST_NAME = 200
LONGEST_TEXT = 20_000
MAX_A2A_DEPTH = 3  # agents that may have passed a request on, the sender of this one included


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


class AgentProfileQuerySet(models.QuerySet["AgentProfile"]):
    def remote(self) -> AgentProfileQuerySet:
        """Narrow to agents that live elsewhere."""
        return self.exclude(remote_url="")

    def with_work(self) -> AgentProfileQuerySet:
        """Narrow to agents that could lease a task now."""
        waiting = Task.objects.leasable().filter(recipient=OuterRef("agent"))
        return self.filter(Exists(waiting), agent__paused_at=None)


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

    objects: ClassVar[AgentProfileQuerySet] = managed_by(AgentProfileQuerySet)

    def __str__(self) -> str:
        return str(self.agent)

    def clean(self) -> None:
        self.skill_bundles = self.skill_bundles or []

    @classmethod
    def of(cls, agent: Agent) -> AgentProfile:
        """Return the agent's profile; one that says nothing, and is not stored, where it has none."""
        return cls.objects.filter(agent=agent).select_related("agent").first() or cls(agent=agent)

    def has(self, tool: Tool) -> bool:
        """Whether a registered tool is one of its skills, which its card lists."""
        return tool.is_default if self.tool_permissions is None else tool.name in self.tool_permissions

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

    objects: ClassVar[ToolQuerySet] = managed_by(ToolQuerySet)

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        self.tags = self.tags or []


class AgentCardQuerySet(models.QuerySet["AgentCard"]):
    def in_order(self) -> AgentCardQuerySet:
        """Order as they were registered; a job that replaces its own card keeps its place."""
        return self.order_by("pk")

    def of_agent(self, agent: Agent) -> AgentCardQuerySet:
        """Narrow to the cards of this agent's jobs."""
        return self.filter(registered_by=agent).in_order()

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

    objects: ClassVar[AgentCardQuerySet] = managed_by(AgentCardQuerySet)

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


class RemoteCallQuerySet(models.QuerySet["RemoteCall"]):
    def at_work(self, now: datetime) -> RemoteCallQuerySet:
        """Narrow to calls that a remote agent works on, or is being given; not those cut off while being given."""
        being_given = Q(remote_task_id=None, began_at__gte=now - RemoteCall.GIVING_LASTS)
        return self.filter(Q(remote_task_id__isnull=False) | being_given, lease__ended_at=None)

    def due(self, now: datetime) -> RemoteCallQuerySet:
        return self.filter(next_look_at__lte=now, lease__ended_at=None).order_by("next_look_at")

    def over(self) -> RemoteCallQuerySet:
        """Narrow to calls whose lease has ended, be it by the call's own result or by someone else."""
        return self.filter(lease__ended_at__isnull=False)


class RemoteCall(models.Model):
    """A lease that the hub carries out at a remote agent for its holder. One per lease, deleted when that has ended.

    The row is there before the remote agent hears of the task, so that a carrier that dies never makes
    another submit it again; and it remembers the remote task, so that another can go on polling.
    """

    GIVING_LASTS = timedelta(minutes=1)  # longer than any submission can take

    lease = models.OneToOneField("mailbox.Lease", models.CASCADE, related_name="remote_call")
    base_url = models.CharField(max_length=500)  # the agent's, when the call began
    # The remote agent's id of the task. None: being submitted; if that lasts, nobody knows whether it was.
    remote_task_id = models.CharField(max_length=500, null=True)
    began_at = models.DateTimeField()
    gives_up_at = models.DateTimeField()  # when the work's time or the task's deadline is over
    next_look_at = models.DateTimeField(null=True)  # None until there is a remote task to look at
    messages_seen = models.PositiveIntegerField(default=0)  # of the remote agent, already in the task's journal

    objects: ClassVar[RemoteCallQuerySet] = managed_by(RemoteCallQuerySet)

    class Meta:
        indexes = [models.Index(fields=["next_look_at"], name="remote_call_due")]

    def __str__(self) -> str:
        return f"remote task {self.remote_task_id or '(not known)'} of lease {self.lease.lease_id}"

    @property
    def timeout_ms(self) -> int:
        """How long the remote agent was given, counted from the lease."""
        return (self.gives_up_at - self.lease.leased_at) // timedelta(milliseconds=1)

    def claim(self, until: datetime) -> bool:
        """Take the look that is due, so that no other carrier does before ``until``; False: another was first."""
        unclaimed = RemoteCall.objects.filter(pk=self.pk, next_look_at=self.next_look_at)
        self.next_look_at = until
        return bool(unclaimed.update(next_look_at=until))
