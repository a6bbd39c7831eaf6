"""The seed's exported functions over the mailbox's verbs. Source: corvid-agent, ``task-handler.ts``."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError

from agentcards import profiles
from agentcards.models.remote import MAX_A2A_DEPTH
from mailbox.access.callers import Caller
from mailbox.access.limits import rates
from mailbox.dialects.corvid import requests, wire
from mailbox.inspection import answers, tasks
from mailbox.life import expiry, results, sending
from mailbox.models import Task
from mailbox.upkeep import compaction
from mailbox.words.envelopes import AgentRef, TaskEnvelope
from mailbox.words.errors import MailboxError, UnknownTaskError

if TYPE_CHECKING:  # the shapes load pydantic; the command line starts without it
    from mailbox.dialects.corvid.answers import CorvidTask

DIALECT = "corvid"


class DepthExceededError(MailboxError):
    """Invocation depth limit exceeded."""

    code = "depth_exceeded"


class NotFoundError(MailboxError):
    """Agent with default project not found."""

    code = "not_found"

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} not found")


def handle_task_send(caller: Caller, body: object) -> CorvidTask:
    """Send the task of ``body`` to the agent that `default_recipient` chooses, and return it as this dialect shows it.

    Order of refusals: `requests.ValidationFailedError`, `RateLimitedError`, `DepthExceededError`, `NotFoundError`,
    then those of `sending.send_task`. Each request after the first check counts for the rate limit of its credential.
    Then `drop_beyond_cap` drops old tasks of the same sender.
    """
    wanted = requests.parse(body)
    count(caller)
    if wanted.depth > MAX_A2A_DEPTH:
        raise DepthExceededError
    recipient = profiles.recipient_for(wanted.skill, skill_first=settings.A2A_TASKS_SEND_ROUTE_BY_SKILL)
    if recipient is None:
        raise NotFoundError("Agent with default project")
    sent = sending.send_task(
        caller,
        TaskEnvelope(
            recipient=AgentRef(recipient.display, recipient.pubkey),
            intent_text=wanted.message,
            metadata={"skill": wanted.skill, "depth": wanted.depth} if wanted.skill else {"depth": wanted.depth},
            work_timeout=timedelta(milliseconds=wanted.timeout_ms),
            dialect=DIALECT,
            converses=False,
        ),
    )
    drop_beyond_cap(caller, sent)
    return wire.task(sent, lease=None, messages=(), is_all=True, result=None)


def count(caller: Caller) -> None:
    """Count a request of the caller's credential; raise `RateLimitedError` beyond the limit of a minute."""
    rates.take_from_window(
        f"tasks/send:{caller.counted_as}",
        limit=settings.A2A_INBOUND_RATE_LIMIT_PER_MIN,
        window=timedelta(minutes=1),
    )


def drop_beyond_cap(caller: Caller, sent: Task) -> None:
    """Drop finished tasks of the sender of ``sent`` beyond ``A2A_TASKS_SEND_CAP``, as `compaction.cap_sent` does.

    The task is stored already, so that an error of the database leaves the drop to the sweep.
    """
    with suppress(DatabaseError):
        compaction.cap_sent(caller, dialect=DIALECT, cap=settings.A2A_TASKS_SEND_CAP, sender=sent.sender)


def handle_task_get(caller: Caller, task_id: UUID | str) -> CorvidTask | None:
    """Return a task the caller is party to, as this dialect shows it; None without such a task.

    A task whose time is up is resolved as expired before it is shown. A long task shows its newest messages, at most
    `wire.MESSAGES_BYTES` of them. A finished task of this dialect counts as shown to its sender from then on.
    """
    try:
        task = expiry.current(caller, UUID(str(task_id)))
    except (ValueError, UnknownTaskError):
        return None
    messages, is_all = tasks.newest_messages(task, most=wire.MOST_MESSAGES, characters=wire.MESSAGES_BYTES)
    lease, result = tasks.newest_lease(task), task.result_or_none
    if result is not None and task.dialect == DIALECT:
        results.mark_shown(caller, result)
    answer = None if result is None else answers.whole_of(result)
    return wire.task(task, lease=lease, messages=messages, is_all=is_all, result=result, answer=answer)


def clear_task_store(caller: Caller) -> int:
    """Drop every finished task of this dialect and return their number. Needs ``a2a.compact``.

    An unfinished task stays: its recipient may be at work on it.
    """
    return compaction.clear(caller, dialect=DIALECT)
