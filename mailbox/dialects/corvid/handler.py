"""The seed's exported functions over the mailbox's verbs. Source: corvid-agent, ``task-handler.ts``.

The body of ``tasks/send`` is checked in corvid-agent's order and refused in its words.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError

from agentcards import profiles
from agentcards.models.remote import MAX_A2A_DEPTH
from mailbox.access.callers import Caller
from mailbox.access.limits import rates
from mailbox.dialects.corvid import wire
from mailbox.dialects.corvid.wire import CorvidTask
from mailbox.inspection import answers, tasks
from mailbox.life import expiry, results, sending
from mailbox.models import Task
from mailbox.upkeep import compaction
from mailbox.words.envelopes import AgentRef, TaskEnvelope
from mailbox.words.errors import MailboxError, UnknownTaskError

MIN_TIMEOUT_MS, MAX_TIMEOUT_MS = 1_000, 600_000
DEFAULT_TIMEOUT_MS = 300_000
MAX_DEPTH_VALUE = 10
MAX_SKILL_LENGTH = 200  # characters, as of a tool's name
NOWHERE = "message is required (either at top-level or inside params)"
DIALECT = "corvid"


class ValidationFailedError(MailboxError):
    """The body does not fit ``tasks/send``."""

    code = "validation_failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSend:
    """A request of ``tasks/send``. ``depth`` counts the agents that have passed the request on, from 1."""

    message: str
    skill: str | None
    timeout_ms: int
    depth: int


@dataclass(frozen=True, slots=True)
class Problem:
    path: str
    text: str
    is_type: bool = False  # a wrong type: no problem of the body as a whole is reported beside it

    def __str__(self) -> str:
        return f"{self.path}: {self.text}"


def parse_send(body: object) -> TaskSend:
    """Read a body of either form, with ``params`` or with its keys at the top level. Raise `ValidationFailedError`.

    If there are ``params``, only ``depth`` is also read at the top level.
    """
    problems = list(_problems(body))
    if not isinstance(body, dict) or problems:
        raise ValidationFailedError("Validation failed: " + "; ".join(map(str, problems)))
    fields = body.get("params", body)
    depth = fields.get("depth", body.get("depth", 1))
    return TaskSend(
        message=fields["message"],
        skill=fields.get("skill"),
        timeout_ms=int(fields.get("timeoutMs", DEFAULT_TIMEOUT_MS)),
        depth=int(depth),
    )


def _problems(body: object) -> Iterator[Problem]:
    if not isinstance(body, dict):
        yield Problem("", f"Invalid input: expected object, received {_type(body)}")
        return
    problems = list(_field_problems(body))
    yield from problems
    if any(problem.is_type for problem in problems):
        return
    fields = body.get("params", body)
    if not str(fields.get("message", "")).strip():
        yield Problem("", NOWHERE)


def _field_problems(body: dict[str, Any]) -> Iterator[Problem]:
    if "params" in body:
        params = body["params"]
        if not isinstance(params, dict):
            yield Problem("params", f"Invalid input: expected object, received {_type(params)}", is_type=True)
        else:
            yield from _message(params, "params.message", required=True)
            yield from _options(params, "params.")
    yield from _message(body, "message", required=False)
    yield from _options(body, "")
    yield from _text(body, "sourceAgent", "")


def _message(fields: dict[str, Any], path: str, *, required: bool) -> Iterator[Problem]:
    if "message" not in fields:
        if required:
            yield Problem(path, "Invalid input: expected string, received undefined", is_type=True)
        return
    message = fields["message"]
    if not isinstance(message, str):
        yield Problem(path, f"Invalid input: expected string, received {_type(message)}", is_type=True)
    elif not message:
        yield Problem(path, "message is required" if required else "Too small: expected string to have >=1 characters")


def _options(fields: dict[str, Any], prefix: str) -> Iterator[Problem]:
    yield from _text(fields, "skill", prefix, most=MAX_SKILL_LENGTH)
    yield from _integer(fields, "timeoutMs", prefix, MIN_TIMEOUT_MS, MAX_TIMEOUT_MS)
    yield from _integer(fields, "depth", prefix, 1, MAX_DEPTH_VALUE)


def _text(fields: dict[str, Any], name: str, prefix: str, *, most: int | None = None) -> Iterator[Problem]:
    if name not in fields:
        return
    value, path = fields[name], f"{prefix}{name}"
    if not isinstance(value, str):
        yield Problem(path, f"Invalid input: expected string, received {_type(value)}", is_type=True)
    elif most is not None and len(value) > most:
        yield Problem(path, f"Too big: expected string to have <={most} characters")


def _integer(fields: dict[str, Any], name: str, prefix: str, low: int, high: int) -> Iterator[Problem]:
    if name not in fields:
        return
    value, path = fields[name], f"{prefix}{name}"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        yield Problem(path, f"Invalid input: expected number, received {_type(value)}", is_type=True)
    elif isinstance(value, float) and not value.is_integer():
        yield Problem(path, "Invalid input: expected int, received number", is_type=True)
    elif value < low:
        yield Problem(path, f"Too small: expected number to be >={low}")
    elif value > high:
        yield Problem(path, f"Too big: expected number to be <={high}")


def _type(value: object) -> str:
    """Name a JSON type as JavaScript's validators do."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case str():
            return "string"
        case int() | float():
            return "number"
        case list():
            return "array"
    return "object"


class DepthExceededError(MailboxError):
    """Invocation depth limit exceeded."""

    code = "depth_exceeded"


class NoRecipientError(MailboxError):
    """Agent with default project not found."""

    code = "not_found"

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} not found")


def handle_task_send(caller: Caller, body: object) -> CorvidTask:
    """Send the task of ``body`` to the agent that `recipient_for` chooses, and return it as this dialect shows it.

    Order of refusals: `requests.ValidationFailedError`, `RateLimitedError`, `DepthExceededError`, `NoRecipientError`,
    then those of `sending.send_task`. Each request after the first check counts for the rate limit of its credential.
    Then `drop_beyond_cap` drops old tasks of the same sender.
    """
    wanted = parse_send(body)
    count(caller)
    if wanted.depth > MAX_A2A_DEPTH:
        raise DepthExceededError
    recipient = profiles.recipient_for(wanted.skill, skill_first=settings.A2A_TASKS_SEND_ROUTE_BY_SKILL)
    if recipient is None:
        raise NoRecipientError("Agent with default project")
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
    """Count a request of the caller under all its keys; raise `RateLimitedError` beyond the limit of a minute."""
    rates.take_from_window(
        f"tasks/send:{caller.name}",
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
