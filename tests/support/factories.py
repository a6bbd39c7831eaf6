"""Makes rows for tests: agents, grants, keys and people directly, and all states of tasks through the verbs.

The usual names: alice sends, bob receives, mallory lacks grants, olga is an operator.
"""

import secrets
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import base58
import pytest
from django.contrib.auth.models import Group, User
from django.utils import timezone
from factory.declarations import LazyAttribute, LazyFunction, Sequence, SubFactory
from factory.django import DjangoModelFactory

from agentcards.models import AgentProfile, Tool
from mailbox.access.callers import Caller, Role
from mailbox.journal import compacted_tasks
from mailbox.life import leasing, results, sending, updates
from mailbox.models import (
    Agent,
    ApiKey,
    AuditEvent,
    CapabilityGrant,
    Lease,
    PublicRoute,
    PushDelivery,
    RepairPlan,
    Result,
    Task,
)
from mailbox.upkeep.compaction import Retention
from mailbox.words import json_text, tokens
from mailbox.words.conversation import Update, UpdateStatus
from mailbox.words.envelopes import AgentRef, DuplicateSafety, Idempotency, ResultEnvelope, ResultStatus, TaskEnvelope
from mailbox.words.errors import QuotaExceededError
from mailbox.words.kinds import Entry, Kind

SOME_TEXT = [{"type": "text", "text": "done"}]
AT_ONCE = Retention(acked=timedelta(0))  # of a compaction: acknowledged tasks are not kept any longer


class AgentFactory(DjangoModelFactory[Agent]):
    class Meta:
        model = Agent

    display = Sequence(lambda number: f"agent{number}@local")
    local = LazyAttribute(lambda agent: agent.display.partition("@")[0])
    pubkey = LazyFunction(lambda: some_pubkey())
    created_at = LazyFunction(timezone.now)


class GrantFactory(DjangoModelFactory[CapabilityGrant]):
    class Meta:
        model = CapabilityGrant

    subject = SubFactory(AgentFactory)
    action = "a2a.send.*"
    granted_by = "user:olga"
    created_at = LazyFunction(timezone.now)


class UserFactory(DjangoModelFactory[User]):
    class Meta:
        model = User

    username = Sequence(lambda number: f"person{number}")


class AgentProfileFactory(DjangoModelFactory[AgentProfile]):
    class Meta:
        model = AgentProfile

    agent = SubFactory(AgentFactory)


class ToolFactory(DjangoModelFactory[Tool]):
    class Meta:
        model = Tool

    name = Sequence(lambda number: f"tool{number}")


class PublicRouteFactory(DjangoModelFactory[PublicRoute]):
    class Meta:
        model = PublicRoute

    agent = SubFactory(AgentFactory)
    rate_limit = 1000
    created_at = LazyFunction(timezone.now)


class RepairPlanFactory(DjangoModelFactory[RepairPlan]):
    class Meta:
        model = RepairPlan

    token = LazyFunction(uuid4)
    verb = RepairPlan.Verb.REQUEUE
    matching = 1
    max_attempts = 3
    made_by = "user:olga"
    made_at = LazyFunction(timezone.now)
    expires_at = LazyFunction(timezone.now)


class PushDeliveryFactory(DjangoModelFactory[PushDelivery]):
    class Meta:
        model = PushDelivery

    task_uuid = LazyFunction(uuid4)
    sender = SubFactory(AgentFactory)
    url = "https://example.com"
    body = "{}"
    created_at = LazyFunction(timezone.now)
    next_attempt_at = LazyFunction(timezone.now)


def some_pubkey() -> str:
    return base58.b58encode(secrets.token_bytes(32)).decode()


def agent(name: str, *actions: str) -> Caller:
    """Make the agent ``name@local`` with a grant for each action; return it as a caller of the API."""
    row = AgentFactory.create(display=f"{name}@local")
    caller = caller_of(row)
    for action in actions:
        grant(caller, action)
    return caller


def caller_of(row: Agent) -> Caller:
    return Caller(name=row.display, source=AuditEvent.Source.API, agent=row, request_id="test", address="192.0.2.10")


def person(name: str, role: Role | None) -> Caller:
    """Make the user ``name`` in the group of ``role``, None for no group; return it as a caller of the API."""
    user = UserFactory.create(username=name)
    if role is not None:
        user.groups.add(Group.objects.get(name=role))
    return Caller(name=f"user:{name}", source=AuditEvent.Source.API, role=role, request_id="test")


def grant(subject: Caller, action: str, *, scope: dict[str, Any] | None = None, **fields: Any) -> CapabilityGrant:
    return GrantFactory.create(subject=row_of(subject), action=action, scope=json_text.dumps(scope or {}), **fields)


def key_of(caller: Caller, **fields: Any) -> str:
    """Return a new API key of the agent or person behind ``caller``."""
    minted = tokens.mint()
    user = None if caller.agent else User.objects.get(username=caller.name.removeprefix("user:"))
    fields = {"created_at": timezone.now(), **fields}
    ApiKey.objects.create(public_id=minted.public_id, digest=minted.digest, agent=caller.agent, user=user, **fields)
    return minted.key


def profile(caller: Caller, **fields: Any) -> AgentProfile:
    return AgentProfileFactory.create(agent=row_of(caller), **fields)


def tool(name: str, **fields: Any) -> Tool:
    return ToolFactory.create(name=name, **fields)


def route(caller: Caller, *, rate_limit: int = 1000) -> str:
    """Return the address of a new public route of the agent: ``/p/<token>``."""
    minted = tokens.mint(tokens.ROUTE)
    PublicRouteFactory.create(
        agent=row_of(caller), public_id=minted.public_id, digest=minted.digest, rate_limit=rate_limit
    )
    return f"/p/{minted.key}"


def row_of(caller: Caller) -> Agent:
    assert caller.agent is not None
    return caller.agent


def ref(caller: Caller) -> AgentRef:
    return AgentRef(row_of(caller).display, row_of(caller).pubkey)


def task_envelope(recipient: Caller, **fields: Any) -> TaskEnvelope:
    return TaskEnvelope(**{"recipient": ref(recipient), "intent_text": "summarise the report", **fields})


def result_envelope(task: Task | UUID, **fields: Any) -> ResultEnvelope:
    task_id = task if isinstance(task, UUID) else task.uuid
    return ResultEnvelope(**{"task_id": task_id, "status": ResultStatus.OK, "content": SOME_TEXT, **fields})


def unsafe(key: str = "k") -> Idempotency:
    return Idempotency(duplicate_safety=DuplicateSafety.UNSAFE, key=key)


def idempotent(key: str | None = None) -> Idempotency:
    """Return an idempotent declaration. ``key`` None: a new key, which no other task has."""
    return Idempotency(duplicate_safety=DuplicateSafety.IDEMPOTENT, key=f"work-{uuid4()}" if key is None else key)


def sent_task(sender: Caller, recipient: Caller, /, **fields: Any) -> Task:
    return sending.send_task(sender, task_envelope(recipient, **fields))


def accepts(sender: Caller, recipient: Caller, **fields: Any) -> bool:
    """Send one more task; return whether the quotas of its sender admit it."""
    try:
        sending.send_task(sender, task_envelope(recipient, **fields))
    except QuotaExceededError:
        return False
    return True


def leased_task(sender: Caller, recipient: Caller, /, **fields: Any) -> Lease:
    """Send a task and lease it. The recipient must have no other leasable task."""
    task = sent_task(sender, recipient, **fields)
    (lease,) = leasing.lease_tasks(recipient)
    assert lease.task == task
    return lease


def resolved_task(sender: Caller, recipient: Caller, /, **fields: Any) -> Result:
    """Send, lease and answer a task. ``fields`` are those of the result."""
    lease = leased_task(sender, recipient)
    return results.post_result(recipient, result_envelope(lease.task, lease_id=lease.lease_id, **fields))


def interrupted_task(sender: Caller, recipient: Caller, /, **fields: Any) -> Task:
    """Send a task, lease it, and put the question "which one?" to its sender."""
    lease = leased_task(sender, recipient, **fields)
    question = Update(status=UpdateStatus.INPUT_REQUIRED, message=text("which one?"))
    updates.post_updates(recipient, lease.task.uuid, [question], lease_id=lease.lease_id)
    return Task.objects.get(pk=lease.task.pk)


def text(words: str) -> list[dict[str, Any]]:
    """Return one content block of text."""
    return [{"type": "text", "text": words}]


def drained_task(sender: Caller, recipient: Caller) -> Result:
    resolved_task(sender, recipient)
    (result,) = results.drain_results(sender)
    return result


def without_digests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let compactions journal the reason alone, as the first versions of the hub did."""

    class ReasonAlone(Entry, kind=Kind.TASKS_COMPACTED):
        reason: str

    def reason_alone(task: Task, callback: object, reason: str, closing: object) -> Entry:
        return ReasonAlone(reason, task_id=task.uuid)

    monkeypatch.setattr(compacted_tasks, "kept", reason_alone)


def life_of(task: Task) -> list[str]:
    """Return the kinds of the task's numbered journal rows, and check that their numbers have no gap."""
    events = list(AuditEvent.objects.of_task(task.uuid))
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    return [event.kind for event in events]


def journal(kind: str) -> list[AuditEvent]:
    return list(AuditEvent.objects.filter(kind=kind).order_by("pk"))


def last_event() -> AuditEvent:
    return AuditEvent.objects.newest_first()[0]


def journal_length() -> int:
    return AuditEvent.objects.count()
