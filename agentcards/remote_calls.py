"""The tasks of remote agents on their way out to them, and their results on the way back.

To the mailbox a remote agent is a recipient like any other: its task is leased, worked on and answered under
that lease. Only the hands are the hub's. A task is submitted once per lease and never again by itself: when a
carrier dies before it knows the remote task, the lease stays for operators or the retry gate.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone

from agentcards import client
from agentcards.client import RemoteTask
from agentcards.models import MAX_A2A_DEPTH, AgentProfile, AgentProfileQuerySet, RemoteCall, RemoteCallQuerySet
from mailbox.gate import audit
from mailbox.gate.callers import Caller
from mailbox.models import Agent, AuditEvent, Lease
from mailbox.outbound.destinations import BaseUrl
from mailbox.outbound.errors import AnswerTooLargeError, BlockedUrlError, ExternalServiceError, NoAnswerError
from mailbox.verbs.life import leasing, results, updates
from mailbox.verbs.life.updates import MAX_UPDATES, Update
from mailbox.words import json_text
from mailbox.words.envelopes import ResultEnvelope, ResultStatus
from mailbox.words.errors import MailboxError

LOOK_EVERY = timedelta(seconds=client.LOOK_EVERY)
LOOK_LASTS = timedelta(seconds=client.LOOK_WITHIN + 5)  # longer than any look can take
DEFAULT_TIMEOUT = timedelta(milliseconds=client.DEFAULT_TIMEOUT_MS)
LEAST_TIMEOUT_MS, MOST_TIMEOUT_MS = 1_000, 600_000  # what corvid-agent takes as timeoutMs

_logger = logging.getLogger(__name__)


def agents_with_work() -> AgentProfileQuerySet:
    """Return the remote agents that have a task to lease, the longest known first."""
    return AgentProfile.objects.remote().with_work().select_related("agent").order_by("pk")


def take_on(profile: AgentProfile) -> RemoteCall | None:
    """Lease a remote agent's oldest task and begin its call; None: no task waits, or it has as many as it may at once.

    Locks the profile while it counts, so that several carriers together begin no more than one would. The lease and
    its call commit together.
    """
    if not _has_room(profile):  # nearly every look at a busy agent: no write lock is taken for it
        return None
    return audit.once_more_on_conflict(lambda: _take_on(profile))


def _take_on(profile: AgentProfile) -> RemoteCall | None:
    caller = caller_for(profile.agent)
    with audit.decision(caller) as journal:
        locked = AgentProfile.objects.remote().select_for_update(no_key=True).filter(pk=profile.pk).first()
        if locked is None or not _has_room(locked):
            return None
        leases = leasing.begin_in_turn(caller, journal, limit=1)
        return _begin(leases[0], locked.remote_url) if leases else None


def _has_room(profile: AgentProfile) -> bool:
    at_work = RemoteCall.objects.at_work(timezone.now()).filter(lease__holder=profile.agent_id)
    return bool(at_work.count() < settings.A2A_REMOTE_CONCURRENCY)


def due(now: datetime) -> RemoteCallQuerySet:
    """Return the calls whose remote task should be looked at now, the longest due first. Each is still to be claimed."""
    beside = ("lease__task__intent_text", "lease__task__metadata")  # large, and of no use to a look
    return RemoteCall.objects.due(now).select_related("lease__holder", "lease__task").defer(*beside)


def submit(call: RemoteCall) -> bool | None:
    """Hand the task over, once, and return whether the remote agent answered; None: it was not asked.

    A task that was not taken, or perhaps not, is answered with the error.

    The sender is told the remote agent's host at most: its URL may hold a secret. Whatever fails before there is a
    remote task to look at, foreseen or not, ends the call: nobody else would come back to it.
    """
    try:
        return _hand_over(BaseUrl.parse(call.base_url), call)
    except BlockedUrlError as refusal:
        answer(call, ResultStatus.ERROR, error=_told(refusal))
    except Exception as failure:
        _logger.exception("the carrier failed at %s", call)
        if RemoteCall.objects.filter(pk=call.pk, remote_task_id=None).exists():
            answer(call, ResultStatus.ERROR, error=f"the hub itself failed: {type(failure).__name__}")
    return None


def _hand_over(base: BaseUrl, call: RemoteCall) -> bool | None:
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
    except ExternalServiceError as failure:
        _logger.info("%s was not handed over: %s", call, failure.message.replace(base.text, base.host))
        answer(call, ResultStatus.ERROR, error=failure.told.replace(base.text, base.host))
        return not isinstance(failure, NoAnswerError)
    call.remote_task_id, call.next_look_at = remote_task_id, timezone.now()
    call.save(update_fields=["remote_task_id", "next_look_at"])
    say(call, [Update(progress=0, note=f"submitted to {base.host} as {remote_task_id}")])
    return True


def _depth_of(metadata: Mapping[str, Any]) -> int | None:
    """Return how many agents have passed a task on when the hub does; None where its sender did not count."""
    depth = metadata.get("depth")
    return depth + 1 if type(depth) is int and depth > 0 else None


def look(call: RemoteCall) -> bool | None:
    """Look at the remote task: pass on what is new, answer if it has ended or its time is up, else look again later.

    Return whether the remote agent showed it; None: it was not asked.
    """
    if timezone.now() >= call.gives_up_at:
        answer(call, ResultStatus.ERROR, error=client.timed_out(call.timeout_ms))
        return None
    try:
        seen = _seen(call)
    except AnswerTooLargeError as failure:
        answer(call, ResultStatus.ERROR, error=failure.told)
        return True
    if seen is not None and seen.has_ended:
        _pass_on(call, seen.said[:-1])
        _answer_as(call, seen)
    elif seen is None or _pass_on(call, seen.said):
        RemoteCall.objects.filter(pk=call.pk).update(next_look_at=timezone.now() + LOOK_EVERY)
    return seen is not None


def say(call: RemoteCall, said: list[Update]) -> bool:
    """Post updates under the call's lease, or a sign of life when there is nothing to say; False: the lease has ended."""
    caller, task_id, lease_id = caller_for(call.lease.holder), call.lease.task.uuid, call.lease.lease_id
    try:
        if not said:
            leasing.heartbeat(caller, task_id, lease_id=lease_id)
        for start in range(0, len(said), MAX_UPDATES):
            updates.post_updates(caller, task_id, said[start : start + MAX_UPDATES], lease_id=lease_id)
    except MailboxError as refusal:
        _logger.info("%s is no longer waited for: %s", call, refusal)
        return False
    return True


def answer(call: RemoteCall, status: ResultStatus, *, text: str | None = None, error: str | None = None) -> None:
    """Post the call's result under its lease, which is the fence: if the lease has ended, nothing changes."""
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
        _logger.info("the result of %s came too late: %s", call, refusal)


def forget_ended() -> None:
    """Delete the calls of leases that have ended."""
    if RemoteCall.objects.over().exists():
        RemoteCall.objects.over().delete()


def caller_for(agent: Agent) -> Caller:
    """Return the hub acting for a remote agent: on local trust, since an operator entered the agent's URL."""
    return Caller(name=agent.display, source=AuditEvent.Source.SCHEDULER, agent=agent, trusted=True)


def _begin(lease: Lease, base_url: str) -> RemoteCall:
    gives_up_at = lease.leased_at + (lease.task.work_timeout or DEFAULT_TIMEOUT)
    if lease.task.deadline_ms is not None:
        left = lease.task.deadline_ms / 1000 - lease.leased_at.timestamp()
        gives_up_at = min(gives_up_at, lease.leased_at + timedelta(seconds=max(0.0, left)))
    return RemoteCall.objects.create(lease=lease, base_url=base_url, began_at=lease.leased_at, gives_up_at=gives_up_at)


def _told(refusal: BlockedUrlError) -> str:
    """Return the refusal as others than its operator may read it: one that repeats the URL says only that there is one."""
    blocked = refusal.message.startswith("Blocked URL")
    return refusal.message if blocked else "the hub cannot call this agent's URL"


def _seen(call: RemoteCall) -> RemoteTask | None:
    try:
        return client.look(BaseUrl.parse(call.base_url), call.remote_task_id or "")
    except BlockedUrlError:
        return None


def _pass_on(call: RemoteCall, said: tuple[str | None, ...]) -> bool:
    """Post the agent messages that were not posted before, each once; False: the lease has ended."""
    unseen = RemoteCall.objects.filter(pk=call.pk, messages_seen=call.messages_seen)
    fresh = said[call.messages_seen :] if len(said) > call.messages_seen else ()
    if fresh and not unseen.update(messages_seen=len(said)):
        return False
    return say(call, [Update(message=[{"type": "text", "text": text}]) for text in fresh if text])


def _answer_as(call: RemoteCall, seen: RemoteTask) -> None:
    if seen.error is not None:
        answer(call, ResultStatus.ERROR, error=seen.error)
    else:
        answer(call, ResultStatus.OK, text=seen.response_text)
