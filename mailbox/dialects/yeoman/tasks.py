"""Tasks over the mailbox's verbs, for the envelope and for the task API alike."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from django.utils import timezone
from django.utils.crypto import salted_hmac

from agentcards import default_recipient
from mailbox.dialects.yeoman import status
from mailbox.dialects.yeoman.requests import Work
from mailbox.gate.callers import Caller
from mailbox.inspection import lists, lookup, tasks
from mailbox.models import Agent, Task
from mailbox.verbs.agents import registration
from mailbox.verbs.life import expiry, sending
from mailbox.words.envelopes import AgentRef, TaskEnvelope
from mailbox.words.errors import TaskConflictError, UnknownAgentError, UnknownTaskError

DIALECT = "yeoman"
MESSAGE_SHOWN = 200  # characters of a message's id, in an error


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """A task was taken, now or before. ``task`` is None if it has ended since and was compacted."""

    task_id: UUID
    task: Task | None


def draft(caller: Caller, work: Work, *, to_peer: str = "", message_id: str = "") -> TaskEnvelope:
    """Return ``work`` as a task for the hosted agent that ``to_peer`` names, else for the default one.

    The same ``message_id`` from the same agent is the same task, whichever agent is the default by then; a blank
    one is never the same. Raises `InvalidRequestError`, `UnknownAgentError` for a name that fits several agents,
    and without a default agent.
    """
    task_id = _task_id(caller, message_id)
    earlier = tasks.earlier_from(caller, task_id)
    recipient = earlier.recipient if earlier else _recipient(to_peer)
    envelope = TaskEnvelope(
        id=task_id,
        recipient=AgentRef(recipient.display, recipient.pubkey),
        intent_text=work.intent,
        metadata=work.metadata,
        context_id=earlier.context_id if earlier else status.session_id(task_id, timezone.now()),
        callback_url=work.callback_url,
        callback_secret=work.callback_secret,
        dialect=DIALECT,
    )
    sending.check(envelope)
    return envelope


def submit(caller: Caller, work: Work, *, to_peer: str = "", message_id: str = "") -> Receipt:
    """Send what `draft` makes of it, with its errors; raise what `sending.send_task` raises.

    `TaskConflictError` names the message: it was used for another task, or with another callback.
    """
    for is_last in (False, True):
        envelope = draft(caller, work, to_peer=to_peer, message_id=message_id)
        try:
            sent = sending.send_task(caller, envelope)
        except TaskConflictError as error:
            # Perhaps it is this very message, received twice at once: now its task can be found.
            if not is_last:
                continue
            if envelope.id is not None and not lookup.is_kept(envelope.id):
                return Receipt(task_id=envelope.id, task=None)
            text = f"{message_id[:MESSAGE_SHOWN]!r} was already used for another task; a new task needs a new id"
            raise TaskConflictError(text, task_id=envelope.id) from error
        return Receipt(task_id=sent.uuid, task=sent)
    raise AssertionError("the last attempt returns or raises")


def enveloped(work: Work, **facts: str) -> Work:
    """Return ``work`` with what its envelope said beside it."""
    return dataclasses.replace(work, metadata={**work.metadata, "envelope": facts})


def taken(caller: Caller, work: Work, *, message_id: str) -> dict[str, Any]:
    """Send ``work`` as `submit` does, with its errors, and return its record; `TaskConflictError` when it is gone."""
    sent = submit(caller, work, message_id=message_id)
    if sent.task is None:
        raise TaskConflictError(f"{message_id[:MESSAGE_SHOWN]!r} was used before; its task has ended and was compacted")
    return status.render(sent.task, sent.task.result_or_none)


def record(caller: Caller, task_id: object) -> dict[str, Any]:
    """Return a task the caller is party to, as this dialect shows it; raise `UnknownTaskError`.

    A task whose time is up is resolved as expired before it is shown.
    """
    known = identify(task_id)
    if known is None:
        raise UnknownTaskError("no such task is known to you")
    task = expiry.current(caller, known)
    return status.render(task, task.result_or_none)


def record_or_none(caller: Caller, task_id: object) -> dict[str, Any] | None:
    try:
        return record(caller, task_id)
    except UnknownTaskError:
        return None


def newest(caller: Caller, *, limit: int, offset: int = 0) -> tuple[Sequence[dict[str, Any]], int]:
    """Return a slice of the tasks the caller sent in this dialect, newest first, and how many there are."""
    found, total = lists.newest_sent(caller, dialect=DIALECT, limit=limit, offset=offset)
    return [status.render(row, row.result_or_none) for row in found], total


def identify(task_id: object) -> UUID | None:
    """Return a task id as sent, with or without dashes; None for what cannot be one."""
    try:
        return UUID(task_id) if isinstance(task_id, str) else None
    except ValueError:
        return None


def _task_id(caller: Caller, message_id: str) -> UUID:
    """Return the id of the task that this message makes: its own, if it has an id, and nobody else can tell which."""
    if not message_id.strip() or caller.agent is None:
        return uuid4()
    digest = salted_hmac("mailbox.dialects.yeoman", f"{caller.agent.pubkey}\n{message_id}", algorithm="sha256").digest()
    return UUID(bytes=digest[:16], version=4)


def _recipient(to_peer: str) -> Agent:
    found = registration.hosted(to_peer) or default_recipient.recipient_for()
    if found is None:
        raise UnknownAgentError("no agent of this hub takes tasks that are addressed to none of its agents")
    return found
