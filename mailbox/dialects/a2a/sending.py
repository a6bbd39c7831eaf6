"""Messages to agents: a new task, or a further message of one; and the wait for its outcome."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID, uuid4

from django.conf import settings
from django.utils.crypto import salted_hmac

from mailbox.access.limits import waits
from mailbox.access.limits.waits import Vigil
from mailbox.database.bell import topics
from mailbox.dialects.a2a.calls import Call
from mailbox.dialects.a2a.errors import ContentTypeNotSupportedError, GenerationMismatchError, UnsupportedOperationError
from mailbox.dialects.a2a.fields import generation
from mailbox.dialects.a2a.push_operations import inline_paths, inline_target
from mailbox.dialects.a2a.requests import SendMessageRequest
from mailbox.inspection import official_tasks, task_events
from mailbox.inspection.official_tasks import StoppedTask
from mailbox.life import conversation
from mailbox.life import sending as verbs
from mailbox.models import Task
from mailbox.words.a2a import v1_0
from mailbox.words.a2a.fold import EventPosition
from mailbox.words.a2a.parts import admits
from mailbox.words.envelopes import KEY_MAX_LENGTH, AgentRef
from mailbox.words.errors import AlreadyResolvedError, InvalidRequestError, QuotaExceededError, TaskConflictError

QUICK = 1.5  # seconds within which an answer is an ordinary response
KEY_HEADER = "Idempotency-Key"
_SALT = "mailbox.dialects.a2a"

Json = dict[str, Any]
Seen = TypeVar("Seen")


@dataclass(frozen=True, slots=True, kw_only=True)
class SentMessage:
    """A stored message: its task, and its place among the events of the task."""

    task: Task
    position: EventPosition

    @property
    def is_first(self) -> bool:
        """Whether the message made the task."""
        return self.position.seq == task_events.FIRST


def send(call: Call, body: SendMessageRequest) -> SentMessage:
    """Store the message, as a new task or with the task that it names. Raises every error that the request may have."""
    _check(call, body)
    return _say(call, body, body.message.task_id) if body.message.task_id else _begin(call, body)


def _check(call: Call, body: SendMessageRequest) -> None:
    key = call.idempotency_key
    if len(key) > KEY_MAX_LENGTH:
        raise InvalidRequestError({KEY_HEADER: f"longer than {KEY_MAX_LENGTH} characters"})
    for media_type in body.message.media_types:
        if not admits(call.official.input_modes, media_type):
            raise ContentTypeNotSupportedError(
                f"The agent takes {', '.join(call.official.input_modes)}, and not {media_type[:100]}."
            )


def _begin(call: Call, body: SendMessageRequest) -> SentMessage:
    key = call.idempotency_key
    context_id = body.message.context_id or str(_derived(call, "context", key) if key else uuid4())
    envelope = body.envelope(
        AgentRef(call.agent.display, call.agent.pubkey),
        task_id=_derived(call, "task", key) if key else None,
        context_id=context_id,
        extensions=call.extensions,
        push=inline_target(call, body),
    )
    try:
        with inline_paths():
            task = verbs.send_task(call.caller, envelope)
    except TaskConflictError as error:
        if error.is_forgotten:
            raise _gone() from error
        raise InvalidRequestError({KEY_HEADER: "was used for another message"}) from error
    if task.pk is None:
        raise _gone()
    return SentMessage(task=task, position=EventPosition(task_events.FIRST))


def _say(call: Call, body: SendMessageRequest, task_id: str) -> SentMessage:
    task = official_tasks.find(call.sender, call.agent, task_id)
    key, context_id = call.idempotency_key, body.message.context_id
    if task.state == Task.State.RESOLVED and not key:
        raise _closed(task)
    if context_id is not None and context_id != task.context_id:
        raise InvalidRequestError({"message.contextId": "is not the context of the task"})
    try:
        with inline_paths():
            said = conversation.say(
                call.caller,
                task.uuid,
                body.words(),
                attempt_id=_derived(call, f"say {task.uuid}", key) if key else None,
                push=inline_target(call, body),
                must_fit=_of_generation(call, body),
            )
    except AlreadyResolvedError as error:
        raise _closed(task) from error
    return SentMessage(task=official_tasks.now(task), position=EventPosition(said.message.seq))


def _of_generation(call: Call, body: SendMessageRequest) -> Callable[[Task], None]:
    """Return the check of a locked task: that it still has the generation that the request names, if it names one."""
    path = "configuration.ifGenerationMatch"
    wanted = generation(body.configuration.if_generation_match, path) if call.numbers_events else None

    def must_fit(task: Task) -> None:
        if wanted is not None and (found := task_events.view_of(task).generation) != wanted:
            raise GenerationMismatchError(task_id=task.uuid, generation=found)

    return must_fit


def _closed(task: Task) -> UnsupportedOperationError:
    return UnsupportedOperationError(
        "The task has ended. Send a new message in its context.", task_id=task.uuid, context_id=task.context_id
    )


def _gone() -> UnsupportedOperationError:
    return UnsupportedOperationError(f"The task of this {KEY_HEADER} has ended and was deleted. Use a new key.")


def _derived(call: Call, purpose: str, key: str) -> UUID:
    """Return the id that a caller's key has for this agent and purpose. No other caller can guess it."""
    text = f"{purpose}\n{call.sender.pubkey}\n{call.agent.pubkey}\n{key}"
    return UUID(bytes=salted_hmac(_SALT, text, algorithm="sha256").digest()[:16], version=4)


def outcome(call: Call, body: SendMessageRequest) -> Iterator[Json | None]:
    """Send the message; yield the answer. Before it, yield None as often as a silent answer needs a sign of life.

    The answer is the task once it is interrupted or resolved, or the one message of a direct answer. After
    ``A2A_BLOCKING_WAIT_MS`` it is the task as it is then. Without a free seat it comes at once, as it does if the
    process stops.
    """
    task = send(call, body).task
    if task.outcome is None and not body.configuration.return_immediately:
        longest = settings.A2A_BLOCKING_WAIT_MS / 1000
        stop = yield from _stop_of(call, task, longest)
        task = stop.of(task) if stop else official_tasks.now(task)
    yield answer(call, task, body.configuration.history_length)


def looks(
    call: Call, task: Task, look: Callable[[], Seen | None], longest: float
) -> Generator[None, None, Seen | None]:
    """Call ``look``, and again at each change of the task, until it returns a true value; return that, else None.

    Yield None as a sign of life. ``longest`` is in seconds. Without a free seat there is no look.
    """
    with suppress(QuotaExceededError), waits.vigil(call.caller, [topics.task(task.uuid)]) as vigil:
        if vigil is not None:
            return (yield from _until(vigil, look, longest))
    return None


def _stop_of(call: Call, task: Task, longest: float) -> Generator[None, None, StoppedTask | None]:
    """Wait for the stop of the task as `looks` does. All such waits of the process share one look."""
    with suppress(QuotaExceededError), waits.vigil(call.caller, []) as vigil:
        if vigil is not None:
            with official_tasks.awaiting(task, vigil.ring) as awaited:
                return (yield from _until(vigil, awaited.read, longest, is_due=False))
    return None


def _until(
    vigil: Vigil, look: Callable[[], Seen | None], longest: float, *, is_due: bool = True
) -> Generator[None, None, Seen | None]:
    """Look at each ring, and if ``is_due`` before the first."""
    ends_at, sign_at = time.monotonic() + longest, time.monotonic() + QUICK
    while not vigil.is_over and (left := ends_at - time.monotonic()) > 0:
        if is_due and (found := vigil.look(look)):
            return found
        is_due = vigil.wait(min(sign_at - time.monotonic(), left))
        if time.monotonic() >= sign_at:  # also while the task changes often
            yield None
            sign_at = time.monotonic() + settings.A2A_KEEPALIVE_MS / 1000
    return None


def answer(call: Call, task: Task, history_length: int | None) -> Json:
    """Return the task with its newest messages, or its one message if it was answered directly."""
    view = task_events.view_of(task)
    if view.status.is_direct:
        return {"message": v1_0.direct_message(task.context_id, view.status)}
    return {"task": v1_0.task(view, history_length=history_length, numbered=call.numbers_events)}
