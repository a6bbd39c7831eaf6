"""The posts of a carrier to the mailbox for a remote agent, under the lease of a call. A repeated post adds nothing."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from agentcards.models import RemoteCall
from mailbox.access.callers import Caller
from mailbox.database import outages
from mailbox.life import leasing, results, updates
from mailbox.models import Agent, AuditEvent
from mailbox.outbound.errors import ExternalServiceError
from mailbox.words.conversation import ArtifactUpdate, Details, Update
from mailbox.words.envelopes import ResultEnvelope, ResultStatus
from mailbox.words.errors import InvalidRequestError, MailboxError, NotAskableError, TaskTooLargeError

_logger = logging.getLogger(__name__)


class TooMuchError(ExternalServiceError):
    """The messages and artifacts of a remote agent are more than a task of the hub has room for."""

    code = "too_much"


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteEnding:
    """How a remote task ended, as the result of the hub's task. ``closing`` are words that close the conversation.

    ``is_direct``: the content is the agent's whole answer, one message and no task. ``details`` are those of the
    agent's last message, None if it has none worth a row.
    """

    status: ResultStatus
    content: Sequence[Mapping[str, Any]] = ()
    closing: Sequence[Mapping[str, Any]] = ()
    error: str | None = None
    is_direct: bool = False
    details: Details | None = None

    @classmethod
    def failed(cls, error: str) -> RemoteEnding:
        return cls(status=ResultStatus.ERROR, error=error)


def caller_for(agent: Agent) -> Caller:
    """Return the caller with which the hub acts for a remote agent. It is trusted: an operator entered the URL."""
    return Caller(name=agent.display, source=AuditEvent.Source.SCHEDULER, agent=agent, trusted=True)


@outages.outlasted
def answer(call: RemoteCall, ending: RemoteEnding) -> None:
    """Post the call's result under its lease. If the lease has ended, nothing changes."""
    envelope = ResultEnvelope(
        task_id=call.lease.task.uuid,
        status=ending.status,
        content=ending.content,
        error_message=ending.error,
        lease_id=call.lease.lease_id,
        message=ending.closing,
        direct=ending.is_direct,
        details=ending.details,
    )
    try:
        results.post_result(caller_for(call.lease.holder), envelope)
    except TaskTooLargeError as refusal:
        raise TooMuchError("the remote agent's answer is larger than one task may be") from refusal
    except MailboxError as refusal:
        _logger.info("the hub rejected the result of %s: %s", call, refusal)


def heartbeat(call: RemoteCall) -> bool:
    """Send a heartbeat of the call's lease. False: the lease has ended."""
    try:
        leasing.heartbeat(caller_for(call.lease.holder), call.lease.task.uuid, lease_id=call.lease.lease_id)
    except MailboxError as refusal:
        _logger.info("the hub rejected the heartbeat of %s: %s", call, refusal)
        return False
    return True


def post_once(call: RemoteCall, update: Update | ArtifactUpdate, attempt_id: UUID) -> bool:
    """Post one update under the call's lease, once for all calls of this attempt. False: the lease has ended.

    An update that the hub does not store is left out. Raises `NotAskableError`, and `TooMuchError` if the task has no
    room left.
    """
    caller, task_id, lease_id = caller_for(call.lease.holder), call.lease.task.uuid, call.lease.lease_id
    try:
        updates.post_updates(caller, task_id, [update], lease_id=lease_id, attempt_id=attempt_id)
    except NotAskableError:
        raise
    except TaskTooLargeError as refusal:
        raise TooMuchError("the remote agent's answer is larger than one task may be") from refusal
    except InvalidRequestError as refusal:
        if "updates" in refusal.fields:
            raise TooMuchError("the remote agent sent more messages and artifacts than one task may hold") from refusal
        _logger.info("the hub left out an update of %s: %s", call, refusal)
    except MailboxError as refusal:
        _logger.info("the hub rejected an update of %s: %s", call, refusal)
        return False
    return True
