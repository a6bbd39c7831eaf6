"""Brings tasks to remote agents, and their results back.

To the mailbox a remote agent is a recipient like any other. The hub leases its task, submits it, polls it, and posts
the result under that lease. It submits a task once per lease and never repeats a submission. If no connection is made,
the agent has nothing: the hub releases the lease and calls the agent again after a pause, for a day. If a carrier dies
before it knows the id of the remote task, the lease stays until operators or the automatic retry requeue it.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Min
from django.utils import timezone

from agentcards import client
from agentcards.client import RemoteTask
from agentcards.fields import UNREADABLE
from agentcards.models import AgentProfile, RemoteCall, RemoteOutage
from agentcards.models.profile import AgentProfileQuerySet
from agentcards.models.remote import MAX_A2A_DEPTH, RemoteCallQuerySet
from mailbox.database import write_turns
from mailbox.gate import audit
from mailbox.gate.callers import Caller
from mailbox.models import Agent, AuditEvent, Lease
from mailbox.outbound.destinations import BaseUrl
from mailbox.outbound.errors import (
    AnswerTooLargeError,
    BlockedUrlError,
    ExternalServiceError,
    NoAnswerError,
    NotReachedError,
)
from mailbox.verbs.life import leasing, results, updates
from mailbox.verbs.life.updates import MAX_UPDATES
from mailbox.words import json_text
from mailbox.words.conversation import Update
from mailbox.words.envelopes import ResultEnvelope, ResultStatus
from mailbox.words.errors import MailboxError

LOOK_EVERY = timedelta(seconds=client.LOOK_EVERY)
LOOK_LASTS = timedelta(seconds=client.LOOK_WITHIN + 5)  # longer than any poll can take
DEFAULT_TIMEOUT = timedelta(milliseconds=client.DEFAULT_TIMEOUT_MS)
GIVEN_UP_AFTER = timedelta(days=1)  # without any connection to the agent
LEAST_TIMEOUT_MS, MOST_TIMEOUT_MS = 1_000, 600_000  # the bounds of corvid-agent's timeoutMs

_logger = logging.getLogger(__name__)


def agents_with_work() -> AgentProfileQuerySet:
    """Return the profiles of the remote agents that may be called with a task, in the order of their creation."""
    found = AgentProfile.objects.remote().with_work().callable_at(timezone.now())
    return found.select_related("agent").order_by("pk")


def take_on(profile: AgentProfile) -> RemoteCall | None:
    """Lease a remote agent's oldest task and begin its call.

    Returns None if no task waits, or if the agent already has ``A2A_REMOTE_CONCURRENCY`` tasks. Locks the profile
    while it counts them, so that several carriers together keep that limit. The lease and its call commit together.
    """
    if not _has_room(profile):  # saves the write lock for agents that are busy
        return None
    return audit.again_on_conflict(lambda: _take_on(profile))


def _take_on(profile: AgentProfile) -> RemoteCall | None:
    caller = caller_for(profile.agent)
    with audit.decision(caller) as journal:
        locked = AgentProfile.objects.remote().select_for_update(no_key=True).filter(pk=profile.pk).first()
        if locked is None or not _has_room(locked):
            return None
        if locked.remote_url == UNREADABLE:
            _logger.error("the URL of %s is encrypted under another SECRET_KEY; its tasks wait", locked)
            return None
        leases = leasing.begin_in_turn(caller, journal, limit=1)
        return _begin(leases[0], locked.remote_url) if leases else None


def _has_room(profile: AgentProfile) -> bool:
    at_work = RemoteCall.objects.at_work(timezone.now()).filter(lease__holder=profile.agent_id)
    return bool(at_work.count() < settings.A2A_REMOTE_CONCURRENCY)


def due(now: datetime) -> RemoteCallQuerySet:
    """Return the calls whose next poll is due, the longest due first. Claim each before polling it."""
    unused = ("lease__task__intent_text", "lease__task__metadata")  # large, and a poll does not need them
    return RemoteCall.objects.due(now).select_related("lease__holder", "lease__task").defer(*unused)


def remote_agents() -> Sequence[int]:
    """Return the primary keys of the remote agents."""
    return list(AgentProfile.objects.remote().values_list("agent_id", flat=True))


def pause_until_due(*, shortest: float, longest: float) -> float:
    """Return the seconds until a poll is due or an agent may be called again, within bounds.

    If a poll is due already, return the ``shortest`` pause.
    """
    now = timezone.now()
    if RemoteCall.objects.due(now).exists():
        return shortest
    calls = RemoteCall.objects.filter(next_look_at__gt=now, lease__ended_at=None)
    outages = RemoteOutage.objects.put_off(now)
    moments = (calls.aggregate(at=Min("next_look_at"))["at"], outages.aggregate(at=Min("next_call_at"))["at"])
    left: list[float] = [(moment - now).total_seconds() for moment in moments if moment is not None]
    return min([longest, *left])


def submit(call: RemoteCall) -> bool | None:
    """Submit the task, once. Return whether the remote agent answered; None: the hub sent no request.

    If no connection was made, the lease is released and the next call to the agent is put off. If both the outage and
    the task are a day old, the task gets an error instead. If the agent did not take the task, or might not have, the
    task gets an error. Any exception before the remote task is known also ends the call, because no carrier would
    continue it. Error texts show at most the host of the remote agent to the sender: its URL may hold a secret.
    """
    try:
        return _submit(BaseUrl.parse(call.base_url), call)
    except BlockedUrlError as refusal:
        answer(call, ResultStatus.ERROR, error=_for_sender(refusal))
    except Exception as failure:
        _logger.exception("the sender of remote tasks failed at %s", call)
        if RemoteCall.objects.filter(pk=call.pk, remote_task_id=None).exists():
            answer(call, ResultStatus.ERROR, error=f"the hub itself failed: {type(failure).__name__}")
    return None


def _submit(base: BaseUrl, call: RemoteCall) -> bool | None:
    task = call.lease.task
    metadata = json_text.loads(task.metadata)
    skill, depth = metadata.get("skill"), _depth_of(metadata)
    if depth is not None and depth > MAX_A2A_DEPTH:
        answer(call, ResultStatus.ERROR, error=f"Invocation depth limit exceeded: {depth - 1} agents have passed it on")
        return None
    timeout_ms = min(max(call.timeout_ms, LEAST_TIMEOUT_MS), MOST_TIMEOUT_MS)
    try:
        remote_task_id = client.submit(
            base,
            task.intent_text,
            skill=skill if isinstance(skill, str) else None,
            timeout_ms=timeout_ms,
            depth=depth,
        )
    except NotReachedError:
        _put_off(call, base)
        return False
    except ExternalServiceError as failure:
        _forget_outage(call)
        _logger.info("submitting %s failed: %s", call, failure.message.replace(base.text, base.host))
        answer(call, ResultStatus.ERROR, error=failure.public_message.replace(base.text, base.host))
        return not isinstance(failure, NoAnswerError)
    _forget_outage(call)
    call.remote_task_id, call.next_look_at = remote_task_id, timezone.now()
    call.save(update_fields=["remote_task_id", "next_look_at"])
    _post(call, [Update(progress=0, note=f"submitted to {base.host} as {remote_task_id}")])
    return True


def _put_off(call: RemoteCall, base: BaseUrl) -> None:
    """Return the task, of which the agent has received nothing, to the queue. Put off all calls to the agent."""
    caller, task, now = caller_for(call.lease.holder), call.lease.task, timezone.now()
    with write_turns.turn(), transaction.atomic(durable=True):
        outage = RemoteOutage.extend(call.lease.holder, call.base_url, now)
    if now - max(outage.since, task.sent_at) >= GIVEN_UP_AFTER:
        answer(call, ResultStatus.ERROR, error=f"no connection to {base.host} for a day; nothing was submitted")
        return
    next_call = outage.next_call_at.isoformat(timespec="seconds").replace("+00:00", "Z")
    reason = f"no connection to {base.host}, so nothing was submitted; the next call is due at {next_call}"
    try:
        leasing.release(caller, task.uuid, reason=reason, lease_id=call.lease.lease_id)
    except MailboxError as refusal:
        _logger.info("the hub rejected the release of %s: %s", call, refusal)


def _forget_outage(call: RemoteCall) -> None:
    if RemoteOutage.objects.filter(agent=call.lease.holder).exists():
        RemoteOutage.objects.filter(agent=call.lease.holder).delete()


def _depth_of(metadata: Mapping[str, Any]) -> int | None:
    """Return the number of agents that have passed the task on, including the hub; None if its sender did not count."""
    depth = metadata.get("depth")
    return depth + 1 if type(depth) is int and depth > 0 else None


def look(call: RemoteCall) -> bool | None:
    """Poll the remote task once, and post its new messages as updates.

    If it has ended, or its time is up, post the result; else set the time of the next poll. Return whether the remote
    agent showed the task; None: the hub sent no request.
    """
    if timezone.now() >= call.gives_up_at:
        answer(call, ResultStatus.ERROR, error=client.timed_out(call.timeout_ms))
        return None
    try:
        seen = _seen(call)
    except AnswerTooLargeError as failure:
        answer(call, ResultStatus.ERROR, error=failure.public_message)
        return True
    if seen is not None and seen.has_ended:
        _post_new(call, seen.texts[:-1])
        _answer_as(call, seen)
    elif seen is None or _post_new(call, seen.texts):
        RemoteCall.objects.filter(pk=call.pk).update(next_look_at=timezone.now() + LOOK_EVERY)
    return seen is not None


def answer(call: RemoteCall, status: ResultStatus, *, text: str | None = None, error: str | None = None) -> None:
    """Post the call's result under its lease. If the lease has ended, nothing changes."""
    content = [] if text is None else [{"type": "text", "text": text}]
    envelope = ResultEnvelope(
        task_id=call.lease.task.uuid,
        status=status,
        content=content,
        error_message=error,
        lease_id=call.lease.lease_id,
    )
    try:
        results.post_result(caller_for(call.lease.holder), envelope)
    except MailboxError as refusal:
        _logger.info("the hub rejected the result of %s: %s", call, refusal)


def forget_ended() -> None:
    """Delete the calls of leases that have ended."""
    if RemoteCall.objects.over().exists():
        RemoteCall.objects.over().delete()


def caller_for(agent: Agent) -> Caller:
    """Return the caller with which the hub acts for a remote agent. It is trusted: an operator entered the URL."""
    return Caller(name=agent.display, source=AuditEvent.Source.SCHEDULER, agent=agent, trusted=True)


def _begin(lease: Lease, base_url: str) -> RemoteCall:
    gives_up_at = lease.leased_at + (lease.task.work_timeout or DEFAULT_TIMEOUT)
    if lease.task.deadline_ms is not None:
        left = lease.task.deadline_ms / 1000 - lease.leased_at.timestamp()
        gives_up_at = min(gives_up_at, lease.leased_at + timedelta(seconds=max(0.0, left)))
    return RemoteCall.objects.create(lease=lease, base_url=base_url, began_at=lease.leased_at, gives_up_at=gives_up_at)


def _for_sender(refusal: BlockedUrlError) -> str:
    """Return the error's text for the task's sender. A text that would show the URL is replaced by a general one."""
    blocked = refusal.message.startswith("Blocked URL")
    return refusal.message if blocked else "the hub cannot call this agent's URL"


def _seen(call: RemoteCall) -> RemoteTask | None:
    try:
        return client.look(BaseUrl.parse(call.base_url), call.remote_task_id or "")
    except BlockedUrlError:
        return None


def _post_new(call: RemoteCall, texts: tuple[str | None, ...]) -> bool:
    """Post the agent messages that were not posted before, each once. False: the lease has ended."""
    unseen = RemoteCall.objects.filter(pk=call.pk, messages_seen=call.messages_seen)
    fresh = texts[call.messages_seen :] if len(texts) > call.messages_seen else ()
    if fresh and not unseen.update(messages_seen=len(texts)):
        return False
    return _post(call, [Update(message=[{"type": "text", "text": text}]) for text in fresh if text])


def _post(call: RemoteCall, news: list[Update]) -> bool:
    """Post updates under the call's lease, or a heartbeat if there are no updates. False: the lease has ended."""
    caller, task_id, lease_id = caller_for(call.lease.holder), call.lease.task.uuid, call.lease.lease_id
    try:
        if not news:
            leasing.heartbeat(caller, task_id, lease_id=lease_id)
        for start in range(0, len(news), MAX_UPDATES):
            updates.post_updates(caller, task_id, news[start : start + MAX_UPDATES], lease_id=lease_id)
    except MailboxError as refusal:
        _logger.info("the hub rejected the updates of %s: %s", call, refusal)
        return False
    return True


def _answer_as(call: RemoteCall, seen: RemoteTask) -> None:
    if seen.error is not None:
        answer(call, ResultStatus.ERROR, error=seen.error)
    else:
        answer(call, ResultStatus.OK, text=seen.response_text)
