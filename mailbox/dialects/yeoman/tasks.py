"""Tasks over the mailbox's verbs, for messages and for the task API."""

import dataclasses
from dataclasses import dataclass
from uuid import UUID, uuid4

from django.utils import timezone
from django.utils.crypto import salted_hmac

from agentcards import profiles
from mailbox.access.agents import directory
from mailbox.access.callers import Caller
from mailbox.dialects.yeoman import wire
from mailbox.dialects.yeoman.requests import SubmittedWork
from mailbox.dialects.yeoman.wire import TaskStatus
from mailbox.inspection import lists, tasks
from mailbox.life import expiry, sending
from mailbox.models import Agent, Task
from mailbox.words.envelopes import AgentRef, TaskEnvelope
from mailbox.words.errors import TaskConflictError, UnknownAgentError, UnknownTaskError

DIALECT = "yeoman"
MESSAGE_SHOWN = 200  # characters of a message's id, in an error


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The receipt of an accepted task. ``task`` is None for a task that an earlier version of the hub compacted."""

    task_id: UUID
    task: Task | None

    @property
    def is_compacted(self) -> bool:
        """Whether the task has ended since and was compacted."""
        return self.task is None or self.task.is_compacted


def draft(caller: Caller, work: SubmittedWork, *, to_peer: str = "", message_id: str = "") -> TaskEnvelope:
    """Return ``work`` as a task for the hosted agent that ``to_peer`` names, else for the default agent.

    The same ``message_id`` from the same agent is the same task, also after the default agent has changed. A blank id
    always makes a new task. Raises `InvalidRequestError`. Raises `UnknownAgentError` for a name that fits several
    agents, and without a default agent.
    """
    task_id = _task_id(caller, message_id)
    earlier = tasks.earlier_from(caller, task_id)
    recipient = earlier.recipient if earlier else _recipient(caller, to_peer)
    envelope = TaskEnvelope(
        id=task_id,
        recipient=AgentRef(recipient.display, recipient.pubkey),
        intent_text=work.intent,
        metadata=work.metadata,
        context_id=earlier.context_id if earlier else wire.session_id(task_id, timezone.now()),
        work_timeout=work.work_timeout,
        callback_url=work.callback_url,
        callback_secret=work.callback_secret,
        dialect=DIALECT,
        converses=False,
    )
    sending.check(envelope)
    return envelope


def submit(caller: Caller, work: SubmittedWork, *, to_peer: str = "", message_id: str = "") -> Receipt:
    """Send the task that `draft` returns, and return its receipt. Raises the errors of `draft` and of a send.

    `TaskConflictError` names a message id that was used for another task, or with another callback.
    """
    for is_last in (False, True):
        envelope = draft(caller, work, to_peer=to_peer, message_id=message_id)
        try:
            sent = sending.send_task(caller, envelope)
        except TaskConflictError as error:
            # The same message may have been received twice at once. The second draft reads the first one's task.
            if not is_last:
                continue
            if envelope.id is not None and error.is_forgotten:
                return Receipt(task_id=envelope.id, task=None)
            text = f"{message_id[:MESSAGE_SHOWN]!r} was used for another task. A new task needs a new id."
            raise TaskConflictError(text, task_id=envelope.id) from error
        return Receipt(task_id=sent.uuid, task=sent)
    raise AssertionError("the last attempt returns or raises")


def enveloped(work: SubmittedWork, **facts: str) -> SubmittedWork:
    """Return ``work`` with facts of its envelope in the metadata."""
    return dataclasses.replace(work, metadata={**work.metadata, "envelope": facts})


def taken(caller: Caller, work: SubmittedWork, *, message_id: str) -> TaskStatus:
    """Send ``work`` as `submit` does, with its errors, and return its record.

    The record of a compacted task has no result but a note. Raise `TaskConflictError` if an earlier version of the hub
    compacted the task.
    """
    receipt = submit(caller, work, message_id=message_id)
    if receipt.task is None:
        text = f"{message_id[:MESSAGE_SHOWN]!r} was used before. Its task has ended and was compacted."
        raise TaskConflictError(text, task_id=receipt.task_id)
    return wire.record(receipt.task, receipt.task.result_or_none, caller.agent)


def record(caller: Caller, task_id: object) -> TaskStatus:
    """Return a task the caller is party to, as this dialect shows it; raise `UnknownTaskError`.

    A task whose time is up is resolved as expired before it is shown.
    """
    known = identify(task_id)
    if known is None:
        raise UnknownTaskError
    task = expiry.current(caller, known)
    return wire.record(task, task.result_or_none, caller.agent)


def record_or_none(caller: Caller, task_id: object) -> TaskStatus | None:
    try:
        return record(caller, task_id)
    except UnknownTaskError:
        return None


def newest(caller: Caller, *, limit: int, offset: int = 0) -> tuple[list[TaskStatus], int]:
    """Return a slice of the tasks that the caller sent in this dialect, newest first, and the number of all."""
    rows, total = lists.newest_sent(caller, dialect=DIALECT, limit=limit, offset=offset)
    return wire.records(rows, caller.agent), total


def identify(task_id: object) -> UUID | None:
    """Return a task's id from text with or without dashes; None for any other value."""
    try:
        return UUID(task_id) if isinstance(task_id, str) else None
    except ValueError:
        return None


def _task_id(caller: Caller, message_id: str) -> UUID:
    """Return the id of this message's task: always the same for a message with an id, and secret to other callers."""
    if not message_id.strip() or caller.agent is None:
        return uuid4()
    digest = salted_hmac("mailbox.dialects.yeoman", f"{caller.agent.pubkey}\n{message_id}", algorithm="sha256").digest()
    return UUID(bytes=digest[:16], version=4)


def _recipient(caller: Caller, to_peer: str) -> Agent:
    recipient = directory.typed_or_none(caller, to_peer) or profiles.recipient_for()
    if recipient is None:
        raise UnknownAgentError("The task names no agent of this hub, and no agent has a default project.")
    return recipient
