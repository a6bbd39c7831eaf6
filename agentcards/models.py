"""Rows that describe agents: profiles, tools, cards of running jobs, and calls to remote agents."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any, ClassVar

from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator
from django.db import models
from django.db.models import Exists, OuterRef, Q

from agentcards.fields import SealedUrlField
from mailbox.database.managers import managed_by
from mailbox.models import Agent, Task
from mailbox.outbound.destinations import BaseUrl
from mailbox.outbound.errors import BlockedUrlError
from mailbox.words import digests, json_text
from mailbox.words.redaction import has_credentials

MOST_NAMES = 1000
LONGEST_NAME = 200
LONGEST_TEXT = 20_000
MAX_A2A_DEPTH = 3  # agents that may have passed a request on, including its sender


def validate_names(value: object) -> None:
    """Raise `ValidationError` unless ``value`` is a list of at most `MOST_NAMES` non-blank names."""
    if not isinstance(value, list) or not all(isinstance(name, str) and name.strip() for name in value):
        raise ValidationError("must be a list of names")
    if len(value) > MOST_NAMES or any(len(name) > LONGEST_NAME for name in value):
        raise ValidationError(f"must have at most {MOST_NAMES} names, each of at most {LONGEST_NAME} characters")
    if problem := json_text.problem_in(value):
        raise ValidationError(problem)


def validate_storable(value: str) -> None:
    """Raise `ValidationError` for text that one of the two databases cannot store."""
    if problem := json_text.problem_with(value):
        raise ValidationError(problem)


def validate_base_url(value: str) -> None:
    """Raise `ValidationError` for a URL that the hub may not call. Judges the text alone; resolves no name."""
    try:
        BaseUrl.parse(value)
    except BlockedUrlError as error:
        raise ValidationError(error.message) from error


class AgentProfileQuerySet(models.QuerySet["AgentProfile"]):
    def remote(self) -> AgentProfileQuerySet:
        """Narrow to remote agents: the hub calls them at their own URL."""
        return self.exclude(remote_url="")

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

    objects: ClassVar[AgentProfileQuerySet] = managed_by(AgentProfileQuerySet)

    def __str__(self) -> str:
        return str(self.agent)

    def clean(self) -> None:
        self.skill_bundles = self.skill_bundles or []

    @classmethod
    def of(cls, agent: Agent) -> AgentProfile:
        """Return the agent's profile: an empty, unsaved profile if it has none."""
        return cls.objects.filter(agent=agent).select_related("agent").first() or cls(agent=agent)

    def has(self, tool: Tool) -> bool:
        """Whether a registered tool is one of the agent's skills."""
        return tool.is_default if self.tool_permissions is None else tool.name in self.tool_permissions

    @property
    def shown_name(self) -> str:
        return self.name or self.agent.local


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


class AgentCardQuerySet(models.QuerySet["AgentCard"]):
    def in_order(self) -> AgentCardQuerySet:
        """Sort by registration. A job that replaces its own card keeps its place."""
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


class RemoteCard(models.Model):
    """A cached card of a remote agent, shared by all processes. Source: corvid-agent, card cache."""

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
        """Narrow to calls that a remote agent works on or that are being submitted.

        Leaves out calls whose submission was interrupted.
        """
        lasts = RemoteCall.SUBMISSION_LASTS
        being_submitted = Q(remote_task_id=None, began_at__gte=now - lasts, began_at__lte=now + lasts)
        return self.filter(Q(remote_task_id__isnull=False) | being_submitted, lease__ended_at=None)

    def due(self, now: datetime) -> RemoteCallQuerySet:
        """Narrow to calls whose next poll is due, the longest due first.

        A poll planned further ahead than `RemoteCall.FURTHEST` is due: its time was taken from a clock that ran ahead.
        """
        is_due = Q(next_look_at__lte=now) | Q(next_look_at__gt=now + RemoteCall.FURTHEST)
        return self.filter(is_due, lease__ended_at=None).order_by("next_look_at")

    def over(self) -> RemoteCallQuerySet:
        """Narrow to calls whose lease has ended, for any reason."""
        return self.filter(lease__ended_at__isnull=False)


class RemoteCall(models.Model):
    """A lease whose task the hub has a remote agent do. One per lease, deleted after the lease has ended.

    The row exists before the hub submits the task. If a carrier dies, no other carrier submits the task again. The row
    keeps the remote task's id, so that another carrier can continue to poll it.
    """

    SUBMISSION_LASTS = timedelta(minutes=1)  # longer than any submission can take
    FURTHEST = timedelta(minutes=5)  # no poll is planned further ahead

    lease = models.OneToOneField("mailbox.Lease", models.CASCADE, related_name="remote_call")
    base_url = SealedUrlField(max_length=500)  # of the agent, when the call began; encrypted if it has credentials
    # The remote agent's id of the task. None: being submitted, or interrupted; then it is unknown if the agent has it.
    remote_task_id = models.CharField(max_length=500, null=True)
    began_at = models.DateTimeField()
    gives_up_at = models.DateTimeField()  # the end of the work timeout, or the task's deadline if that is earlier
    next_look_at = models.DateTimeField(null=True)  # time of the next poll; None until there is a remote task
    messages_seen = models.PositiveIntegerField(default=0)  # messages of the remote agent posted as updates

    objects: ClassVar[RemoteCallQuerySet] = managed_by(RemoteCallQuerySet)

    class Meta:
        indexes = [models.Index(fields=["next_look_at"], name="remote_call_due")]

    def __str__(self) -> str:
        return f"remote task {self.remote_task_id or '(not known)'} of lease {self.lease.lease_id}"

    @property
    def timeout_ms(self) -> int:
        """The time the remote agent has for the task, counted from the start of the lease."""
        return (self.gives_up_at - self.lease.leased_at) // timedelta(milliseconds=1)

    def claim(self, until: datetime) -> bool:
        """Claim the due poll, so that no other carrier polls before ``until``. False: another carrier was first."""
        unclaimed = RemoteCall.objects.filter(pk=self.pk, next_look_at=self.next_look_at)
        self.next_look_at = until
        return bool(unclaimed.update(next_look_at=until))


class RemoteOutageQuerySet(models.QuerySet["RemoteOutage"]):
    def put_off(self, now: datetime) -> RemoteOutageQuerySet:
        """Narrow to outages whose next call is not due yet.

        A time beyond the longest pause was set by a clock that was ahead, and does not count.
        """
        return self.filter(next_call_at__gt=now, next_call_at__lte=now + RemoteOutage.LONGEST_PAUSE)


class RemoteOutage(models.Model):
    """A remote agent to which the hub could not connect.

    The row is deleted after the next connection, and when the agent's URL changes.
    """

    SHORTEST_PAUSE, LONGEST_PAUSE = timedelta(seconds=1), timedelta(minutes=5)

    agent = models.OneToOneField(Agent, models.CASCADE, related_name="remote_outage")
    # Of the agent, when the calls failed; of a URL with credentials only the digest.
    base_url = models.CharField(max_length=500)
    since = models.DateTimeField()  # time of the first failure
    next_call_at = models.DateTimeField()

    objects: ClassVar[RemoteOutageQuerySet] = managed_by(RemoteOutageQuerySet)

    def __str__(self) -> str:
        return f"no connection to {self.agent} since {self.since}"

    @classmethod
    def extend(cls, agent: Agent, base_url: str, now: datetime) -> RemoteOutage:
        """Record a failed connection, and put the next call off by the time since the first failure, within bounds.

        So the pauses double. The failure of a call that had begun before the last pause changes nothing. Runs in a
        transaction, and locks the row.
        """
        base_url = f"digest:{digests.digest(base_url)}" if has_credentials(base_url) else base_url
        begun = {"base_url": base_url, "since": now, "next_call_at": now + cls.SHORTEST_PAUSE}
        row, is_new = cls.objects.select_for_update().get_or_create(agent=agent, defaults=begun)
        if is_new or (row.base_url == base_url and now < row.next_call_at <= now + cls.LONGEST_PAUSE):
            return row
        if row.base_url != base_url or row.since > now:
            row.base_url, row.since = base_url, now
        row.next_call_at = now + min(max(now - row.since, cls.SHORTEST_PAUSE), cls.LONGEST_PAUSE)
        row.save(update_fields=["base_url", "since", "next_call_at"])
        return row
