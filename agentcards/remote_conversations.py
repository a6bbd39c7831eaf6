"""Conversations with remote agents between the leases of their tasks.

A conversation goes on after a question of the agent. A remote task whose task of the hub has ended otherwise is
cancelled. An agent that got its authorization by another way goes on by itself, so it is polled meanwhile.
"""

import logging
from collections.abc import Sequence
from datetime import datetime, timedelta

from agentcards.carriages import official_talk
from agentcards.carriages.reporting import caller_for
from agentcards.models import AgentProfile, RemoteCall, RemoteConversation
from mailbox.access import audit
from mailbox.life import leasing
from mailbox.models import Task
from mailbox.outbound.errors import ExternalServiceError, ValidationError
from mailbox.words.a2a.states import TaskState
from mailbox.words.errors import MailboxError

LOOK_EVERY = timedelta(seconds=30)  # while an agent waits for an authorization

_logger = logging.getLogger(__name__)


def to_go_on_with(task: Task) -> str | None:
    """Return the id of the remote task that has all messages of the sender; None if there is a message to send."""
    conversation = RemoteConversation.objects.filter(task=task, told_turn__gte=task.turn).first()
    return None if conversation is None else conversation.remote_task_id


def to_cancel() -> Sequence[RemoteConversation]:
    """Return the conversations of resolved tasks whose remote task may still be at work. Forget each before its cancel.

    Deletes the rows of the others.
    """
    RemoteConversation.objects.over().filter(has_ended=True).delete()
    RemoteConversation.objects.over().filter(remote_task_id=None).delete()
    return list(RemoteConversation.objects.over().select_related("task"))


def cancel(conversation: RemoteConversation) -> bool | None:
    """Ask the agent once to cancel the remote task. Returns None: a failure tells nothing about later calls."""
    official_talk.cancel(conversation)
    return None


def waiting(now: datetime) -> Sequence[RemoteConversation]:
    """Return the conversations that wait for an authorization and are due. Claim each before `resume`."""
    return list(RemoteConversation.objects.awaiting_authorization(now).select_related("task__recipient"))


def resume(conversation: RemoteConversation) -> bool | None:
    """Poll a remote task that waited for an authorization. If it goes on, lease its task again and poll on.

    Returns whether the agent showed the task.
    """
    try:
        shown = official_talk.shown_now(official_talk.agent_of(conversation), conversation)
    except (ExternalServiceError, ValidationError) as error:
        _logger.debug("polling a remote task failed: %s", error)
        return False
    if shown.state != TaskState.AUTH_REQUIRED:
        try:
            audit.again_on_conflict(lambda: _go_on(conversation))
        except MailboxError as refusal:
            _logger.info("the hub did not go on with %s: %s", conversation, refusal)
    return True


def _go_on(conversation: RemoteConversation) -> None:
    """Lease the task out of turn, and begin the call that polls it, in one transaction."""
    agent = conversation.task.recipient
    with audit.decision(caller_for(agent)) as journal:
        profile = AgentProfile.objects.exclude(card_url="").select_for_update(no_key=True).filter(agent=agent).first()
        task = Task.objects.with_parties().locked().filter(pk=conversation.task_id).first()
        if profile is None or task is None or task.state != Task.State.INTERRUPTED:
            return
        lease = leasing.begin_out_of_turn(task, journal)
        known = conversation.remote_task_id
        RemoteCall.begin(lease, profile.card_url, RemoteCall.Protocol.OFFICIAL, remote_task_id=known)
        RemoteConversation.objects.filter(pk=conversation.pk).update(next_look_at=None)
