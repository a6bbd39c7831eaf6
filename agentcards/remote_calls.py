"""The calls that bring tasks to remote agents, and their results back.

To the mailbox a remote agent is a recipient like any other. The hub leases its task, submits it, polls it, and posts
the result under that lease. `agentcards.carriages` has one carriage per protocol, and `carriage_of` names that of a
call. A task is submitted once per lease. If the agent has taken nothing, the hub releases the lease and calls the agent
again after a pause, for a day. If a carrier dies before it knows the id of the remote task, the lease stays until
operators or the automatic retry requeue it. If no conversation with an official agent was stored, nothing was sent, and
the task is submitted again. An agent of another hub does a repeated submission once, so its tasks are submitted again,
too.
"""

import logging
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from datetime import datetime, timedelta
from urllib.parse import urlsplit
from uuid import uuid5

from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Min
from django.utils import timezone

from agentcards import client, remote_conversations
from agentcards.carriages import reporting
from agentcards.carriages.carriage import Carriage, RemoteSnapshot, Taken
from agentcards.carriages.corvid import CorvidCarriage
from agentcards.carriages.official import OfficialCarriage
from agentcards.carriages.reporting import RemoteEnding, TooMuchError, caller_for
from agentcards.errors import PutOffError
from agentcards.fields import UNREADABLE
from agentcards.models import AgentProfile, RemoteCall, RemoteOutage
from agentcards.models.profile import AgentProfileQuerySet
from agentcards.models.remote import RemoteCallQuerySet
from mailbox.access import audit
from mailbox.database import outages, write_turns
from mailbox.life import leasing
from mailbox.models import Lease
from mailbox.outbound import errors
from mailbox.words.conversation import Update
from mailbox.words.errors import MailboxError, NotAskableError

CARRIAGES: Mapping[str, Carriage] = {
    RemoteCall.Protocol.CORVID: CorvidCarriage(),
    RemoteCall.Protocol.OFFICIAL: OfficialCarriage(),
}
LOOK_EVERY = timedelta(seconds=client.LOOK_EVERY)
LOOK_LASTS = timedelta(seconds=client.LOOK_WITHIN + 5)  # longer than any poll can take
FOLLOW_WITHIN = timedelta(seconds=8)  # less than `serve` gives a process to stop
FOLLOW_LASTS = FOLLOW_WITHIN + timedelta(seconds=7)  # longer than any turn of a stream can take
GIVEN_UP_AFTER = timedelta(days=1)  # without any connection to the agent
_logger = logging.getLogger(__name__)


def carriage_of(call: RemoteCall) -> Carriage:
    return CARRIAGES[call.protocol]


def agents_with_work() -> AgentProfileQuerySet:
    """Return the profiles of the remote agents that may be called with a task, in the order of their creation."""
    return AgentProfile.objects.remote().with_work().callable_at(timezone.now()).select_related("agent").order_by("pk")


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
        if UNREADABLE in (locked.called_url, locked.card_key):
            _logger.error("the URL or key of %s is encrypted under another SECRET_KEY; its tasks wait", locked)
            return None
        leases = leasing.begin_in_turn(caller, journal, limit=1)
        return _begin(leases[0], locked) if leases else None


def _has_room(profile: AgentProfile) -> bool:
    at_work = RemoteCall.objects.at_work(timezone.now()).filter(lease__holder=profile.agent_id)
    return bool(at_work.count() < settings.A2A_REMOTE_CONCURRENCY)


def due(now: datetime) -> RemoteCallQuerySet:
    """Return the calls whose next poll is due, the longest due first. Claim each before polling it."""
    unused = ("lease__task__intent_text", "lease__task__metadata")  # large, and a poll does not need them
    return RemoteCall.objects.due(now).select_related("lease__holder", "lease__task").defer(*unused)


def cut(now: datetime) -> RemoteCallQuerySet:
    """Return the calls whose interrupted submission may be repeated. Claim each before submitting it."""
    return RemoteCall.objects.cut(now).select_related("lease__holder", "lease__task__sender")


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
    pauses = RemoteOutage.objects.put_off(now)
    moments = (calls.aggregate(at=Min("next_look_at"))["at"], pauses.aggregate(at=Min("next_call_at"))["at"])
    left: list[float] = [(moment - now).total_seconds() for moment in moments if moment is not None]
    return min([longest, *left])


def submit(call: RemoteCall) -> bool | None:
    """Submit the task, once. Return whether the remote agent answered; None: the hub sent no request.

    If the agent has taken nothing, the lease is released and the next call to the agent is put off. If both the outage
    and the task are a day old, the task gets an error instead. If the agent did not take the task, or might not have,
    the task gets an error. So it does after a bug of the hub, because no carrier would go on without the remote task's
    id. Error texts show at most the host of the remote agent to the sender: its URL may hold a secret.

    A failure of the database is no error of the task: what the agent answered is stored once the database is back.
    Raises Django's error if this thread has no patience for it (`outages.outlasting`).
    """
    if call.remote_task_id is not None:
        return None  # a conversation that goes on without a message
    try:
        return _submit(carriage_of(call), call)
    except errors.BlockedUrlError as refusal:
        _fail(call, _for_sender(refusal))
    except (OperationalError, InterfaceError):
        raise
    except Exception as failure:
        _logger.exception("the sender of remote tasks failed at %s", call)
        _fail_unsubmitted(call, f"the hub itself failed: {type(failure).__name__}")
    return None


def _submit(carriage: Carriage, call: RemoteCall) -> bool | None:
    urls = carriage.urls(call)
    try:
        taken = carriage.submit(call)
    except (errors.NotReachedError, PutOffError) as failure:
        host = urlsplit(urls[-1]).netloc
        if isinstance(failure, errors.NotReachedError):
            _put_off(call, f"no connection to {host}", so_far="nothing was submitted")
        else:
            _put_off(call, f"{failure.reason} at {host}", so_far="it is not known to work on the task")
        return False
    except errors.ExternalServiceError as failure:
        _forget_outage(call)
        urls = carriage.urls(call)  # more are known now
        _logger.info("submitting %s failed: %s", call, _hidden(failure.message, urls))
        _fail(call, _hidden(failure.public_message, urls))
        return not isinstance(failure, errors.NoAnswerError)
    if taken is None:
        return None
    _forget_outage(call)
    if isinstance(taken, RemoteEnding):
        reporting.answer(call, taken)
        return True if taken.is_direct else None
    _store(call, taken)
    if taken.snapshot is not None:
        _settle(call, taken.snapshot)
    return True


@outages.outlasted
def _store(call: RemoteCall, taken: Taken) -> None:
    """Store the id of the remote task, and tell it the sender."""
    call.remote_task_id, call.next_look_at = taken.remote_task_id, timezone.now()
    call.save(update_fields=["remote_task_id", "next_look_at"])
    if taken.note:
        with suppress(TooMuchError):
            note = Update(progress=0, note=taken.note)
            reporting.post_once(call, note, uuid5(call.lease.lease_id, "submitted"))


def _hidden(text: str, urls: Sequence[str]) -> str:
    """Return the text with the hosts alone of these URLs."""
    for url in urls:
        text = text.replace(url, urlsplit(url).netloc)
    return text


@outages.outlasted
def _put_off(call: RemoteCall, failed: str, *, so_far: str) -> None:
    """Return the task to the queue, which may be submitted again safely. Put off all calls to the agent."""
    caller, task, now = caller_for(call.lease.holder), call.lease.task, timezone.now()
    with write_turns.turn(), transaction.atomic(durable=True):
        outage = RemoteOutage.extend(call.lease.holder, call.base_url, now)
    if now - max(outage.since, task.sent_at) >= GIVEN_UP_AFTER:
        _fail(call, f"{failed} for a day; {so_far}")
        return
    next_call = outage.next_call_at.isoformat(timespec="seconds").replace("+00:00", "Z")
    reason = f"{failed}, so {so_far}; the next call is due at {next_call}"
    try:
        leasing.release(caller, task.uuid, reason=reason, lease_id=call.lease.lease_id)
    except MailboxError as refusal:
        _logger.info("the hub rejected the release of %s: %s", call, refusal)


@outages.outlasted
def _forget_outage(call: RemoteCall) -> None:
    if RemoteOutage.objects.filter(agent=call.lease.holder).exists():
        RemoteOutage.objects.filter(agent=call.lease.holder).delete()


def look(call: RemoteCall) -> bool | None:
    """Poll the remote task once, and post its new messages as updates.

    If it has ended, post the result; else set the time of the next poll. A poll after the time of the call is its last:
    a task that goes on gets an error. A task that is out of time itself gets one without a poll. Return whether the
    remote agent showed the task; None: the hub sent no request.
    """
    now, error = timezone.now(), client.timed_out(call.timeout_ms)
    if call.is_out_of_time(now):
        _fail(call, error)
        return None
    is_last = now >= call.gives_up_at
    try:
        snapshot = carriage_of(call).look(call)
        goes_on = snapshot is None or _settle(call, snapshot)
    except errors.AnswerTooLargeError as failure:
        _fail(call, failure.public_message)
        return True
    except Exception as failure:
        if is_last and not isinstance(failure, (OperationalError, InterfaceError)):
            _fail(call, error)
        raise
    if goes_on and is_last:
        _fail(call, error)
    elif goes_on:
        RemoteCall.objects.filter(pk=call.pk).update(next_look_at=timezone.now() + LOOK_EVERY)
    return snapshot is not None


def follows(call: RemoteCall) -> bool:
    """Whether the next turn of this call can be a stream, and not a poll."""
    return timezone.now() < call.gives_up_at and carriage_of(call).follows(call)


def follow(call: RemoteCall) -> bool | None:
    """Follow the remote task by a stream for one turn, and post each change at once.

    A turn lasts at most `FOLLOW_WITHIN`. It ends with the task, with its lease, with the stream, or when its time is
    up. The next turn, or a poll, is due at once, after a turn without a snapshot as after a failed poll. If the time is
    up before the turn, it is a poll. Returns as `look`.
    """
    within = min(FOLLOW_WITHIN, call.gives_up_at - timezone.now())
    if within <= timedelta(0):
        return look(call)
    answered = False
    with closing(carriage_of(call).snapshots(call, within=within.total_seconds())) as snapshots:
        for snapshot in snapshots:
            answered = True
            if not _settle(call, snapshot):
                return True
    pause = timedelta(0) if answered else LOOK_EVERY
    RemoteCall.objects.filter(pk=call.pk).update(next_look_at=timezone.now() + pause)
    return answered


@outages.outlasted
def _settle(call: RemoteCall, snapshot: RemoteSnapshot) -> bool:
    """Post what the agent shows, and the result if the remote task has ended. False: the call is over."""
    try:
        is_live, ending = snapshot.report(call), snapshot.ending
        if ending is not None:
            reporting.answer(call, ending)
    except NotAskableError:
        _fail(call, "the sender of this task takes no questions, and the remote agent has one")
    except TooMuchError as failure:
        _fail(call, failure.public_message)
    else:
        return is_live and ending is None
    return False


def _fail(call: RemoteCall, error: str) -> None:
    reporting.answer(call, RemoteEnding.failed(error))


@outages.outlasted
def _fail_unsubmitted(call: RemoteCall, error: str) -> None:
    """Fail the task unless its remote task is known, which is polled on."""
    if RemoteCall.objects.filter(pk=call.pk, remote_task_id=None).exists():
        _fail(call, error)


def forget_ended() -> None:
    """Delete the calls of leases that have ended."""
    if RemoteCall.objects.over().exists():
        RemoteCall.objects.over().delete()


def _begin(lease: Lease, profile: AgentProfile) -> RemoteCall:
    if not profile.card_url:
        return RemoteCall.begin(lease, profile.remote_url, RemoteCall.Protocol.CORVID)
    known = remote_conversations.to_go_on_with(lease.task)
    return RemoteCall.begin(lease, profile.card_url, RemoteCall.Protocol.OFFICIAL, remote_task_id=known)


def _for_sender(refusal: errors.BlockedUrlError) -> str:
    """Return the error's text for the task's sender. A text that would show the URL is replaced by a general one."""
    return refusal.message if refusal.message.startswith("Blocked URL") else "the hub cannot call this agent's URL"
