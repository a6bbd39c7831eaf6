"""Messages to agents: a new task, or a further message of one; the wait for its outcome, and streams of its events.

A stream follows a message that was sent, or a subscription. Source: A2A 1.0, streaming.
"""

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import UUID, uuid4

from django.conf import settings
from django.core import signing
from django.utils.crypto import salted_hmac

from mailbox.access.limits import waits
from mailbox.access.limits.waits import Vigil
from mailbox.database.bell import topics
from mailbox.dialects.a2a import errors
from mailbox.dialects.a2a.calls import Call, Version, inline_paths, inline_target
from mailbox.dialects.a2a.requests import SendMessageRequest, SubscribeToTaskRequest, generation
from mailbox.dialects.base.bodies import encoded
from mailbox.inspection import event_log, official_tasks, task_events
from mailbox.inspection.event_log import Feed
from mailbox.inspection.official_tasks import StoppedTask
from mailbox.life import conversation
from mailbox.life import sending as verbs
from mailbox.models import Task
from mailbox.words.a2a import v0_3, v1_0
from mailbox.words.a2a.fold import EventKind, EventPosition, TaskEvent, TaskSnapshot
from mailbox.words.a2a.parts import admits
from mailbox.words.envelopes import KEY_MAX_LENGTH, AgentRef
from mailbox.words.errors import AlreadyResolvedError, InvalidRequestError, QuotaExceededError, TaskConflictError

QUICK = 1.5  # seconds within which an answer is an ordinary response
KEY_HEADER = "Idempotency-Key"
_SALT = "mailbox.dialects.a2a"

Json = dict[str, Any]
Seen = TypeVar("Seen")
LAST_EVENT_ID = "Last-Event-ID"


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
            raise errors.ContentTypeNotSupportedError(
                f"The agent takes {', '.join(call.official.input_modes)}, and not {media_type[:100]}."
            )


def _key(call: Call, body: SendMessageRequest) -> tuple[str, str]:
    """Return what tells a repeat of the message, "" if nothing does, and the name of its place in the request.

    Callers without a key share one identity, so the message ids of one must not find the tasks of another.
    """
    if not call.idempotency_key and call.official.profile.message_id_is_key and not call.caller.is_anonymous:
        return f"\n{body.message.message_id}", "message.messageId"  # no header has a line break
    return call.idempotency_key, KEY_HEADER


def _begin(call: Call, body: SendMessageRequest) -> SentMessage:
    key, source = _key(call, body)
    envelope = body.envelope(
        AgentRef(call.agent.display, call.agent.pubkey),
        task_id=_derived(call, "task", key) if key else None,
        context_id=_context(call, body.message.context_id, key),
        extensions=call.extensions,
        push=inline_target(call, body),
    )
    try:
        with inline_paths():
            task = verbs.send_task(call.caller, envelope)
    except TaskConflictError as error:
        if error.is_forgotten:
            raise _gone() from error
        raise InvalidRequestError({source: "was used for another message"}) from error
    if task.pk is None:
        raise _gone()
    return SentMessage(task=task, position=EventPosition(task_events.FIRST))


def _say(call: Call, body: SendMessageRequest, task_id: str) -> SentMessage:
    task = official_tasks.find(call.sender, call.agent, task_id)
    (key, _), context_id = _key(call, body), body.message.context_id
    if task.state == Task.State.RESOLVED and not key:
        raise _closed(task)
    if context_id is not None and context_id != task.context_id:
        raise InvalidRequestError({"message.contextId": "is not the context of the task"})
    try:
        with inline_paths():
            sent = conversation.say(
                call.caller,
                task.uuid,
                body.words(),
                attempt_id=_derived(call, f"say {task.uuid}", key) if key else None,
                push=inline_target(call, body),
                must_fit=_of_generation(call, body),
            )
    except AlreadyResolvedError as error:
        raise _closed(task) from error
    return SentMessage(task=official_tasks.now(task), position=EventPosition(sent.message.seq))


def _of_generation(call: Call, body: SendMessageRequest) -> Callable[[Task], None]:
    """Return the check of a locked task: that it still has the generation that the request names, if it names one."""
    path = "configuration.ifGenerationMatch"
    wanted = generation(body.configuration.if_generation_match, path) if call.numbers_events else None

    def must_fit(task: Task) -> None:
        if wanted is not None and (generation_now := task_events.view_of(task).generation) != wanted:
            raise errors.GenerationMismatchError(task_id=task.uuid, generation=generation_now)

    return must_fit


def _closed(task: Task) -> errors.UnsupportedOperationError:
    return errors.UnsupportedOperationError(
        "The task has ended. Send a new message in its context.", task_id=task.uuid, context_id=task.context_id
    )


def _gone() -> errors.UnsupportedOperationError:
    return errors.UnsupportedOperationError(f"The task of this {KEY_HEADER} has ended and was deleted. Use a new key.")


def _context(call: Call, named: str | None, key: str) -> str:
    """Return the context that a message names, else a new one: the same for each repeat under a key.

    Callers without a key share one sender. They get signed ids, so that none can name a context of another.
    """
    if named is None:
        made = str(_derived(call, "context", key) if key else uuid4())
        return _contexts().sign(made) if call.caller.is_anonymous else made
    if call.caller.is_anonymous and not is_of_hub(named):
        raise InvalidRequestError({"message.contextId": "is no id of this hub. Without a key, leave it out at first."})
    return named


def is_of_hub(context_id: str) -> bool:
    """Whether the hub made this id of a context for a caller without a key."""
    try:
        return bool(_contexts().unsign(context_id))
    except signing.BadSignature:
        return False


def _contexts() -> signing.Signer:
    return signing.Signer(salt=f"{_SALT}.contexts")


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
        if is_due and (seen := vigil.look(look)):
            return seen
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """An event on its way: its id, and its JSON in the version of the call."""

    id: str
    json: bytes


def send_and_follow(call: Call, body: SendMessageRequest) -> Generator[Frame | None, None, None]:
    """Send the message; yield its task and then each event up to an interruption or the end, or the one message.

    None is a sign of life. Everything that can be refused is refused before the first item.
    """
    with ExitStack() as stack:
        vigil = _seat(call, stack)
        sent = send(call, body)
        vigil.wait_for([topics.task(sent.task.uuid)])
        stream = _Stream(call, sent.task, vigil, stack.enter_context(event_log.following(sent.task)), stops_asking=True)
        yield None
        stream.begin_at(sent.position)
        view = task_events.view_at(sent.task, sent.position)
        if sent.is_first:
            yield from stream.first_word()
            if (message := stream.direct_message()) is not None:
                yield message
                return
        yield stream.snapshot(view, body.configuration.history_length)
        yield from stream.events()


def subscribe(call: Call, body: SubscribeToTaskRequest) -> Generator[Frame | None, None, None]:
    """Yield a task as it is now, and then each event to its end, also through interruptions.

    With a ``Last-Event-ID``, yield the task as it was at that event and everything since, also of a task that has
    ended. None is a sign of life.
    """
    task = official_tasks.find(call.sender, call.agent, body.id)
    since = _position_of(call)
    if since is None and task.state == Task.State.RESOLVED:
        raise errors.UnsupportedOperationError("The task has ended. GetTask reads it.", task_id=task.uuid)
    with ExitStack() as stack:
        vigil = _seat(call, stack)
        vigil.wait_for([topics.task(task.uuid)])
        stream = _Stream(call, task, vigil, stack.enter_context(event_log.following(task)), stops_asking=False)
        yield None
        yield stream.snapshot(stream.begin_now() if since is None else stream.begin_at(since), None)
        yield from stream.events()


def _seat(call: Call, stack: ExitStack) -> Vigil:
    vigil = stack.enter_context(waits.vigil(call.caller, []))
    if vigil is None:
        raise errors.NoFreeSeatError
    return vigil


def _position_of(call: Call) -> EventPosition | None:
    """Return the position after which a stream goes on. Raises `InvalidRequestError` for an id of no event.

    After the first of two events of a row, the stream goes on before both, so that the row stays whole.
    """
    if call.last_event_id is None:
        return None
    position = EventPosition.parse(call.last_event_id.strip())
    if position is None:
        raise InvalidRequestError({LAST_EVENT_ID: "is not the id of an event of the hub"})
    return EventPosition(max(task_events.FIRST, position.seq - (position != EventPosition(position.seq))))


class _Stream:
    """One stream. It reads from the feed of its task, which all streams of the task share."""

    def __init__(self, call: Call, task: Task, vigil: Vigil, source: Feed, *, stops_asking: bool) -> None:
        """``stops_asking``: the stream ends with a question, too."""
        self._call, self._task, self._vigil, self._feed = call, task, vigil, source
        self._stops_asking = stops_asking
        self._next = 0  # index of the next event of the feed
        self._ends_at = time.monotonic() + settings.A2A_STREAM_LIMIT_MS / 1000

    def begin_now(self) -> TaskSnapshot:
        """Go on after the present events; return the task as it is after them."""
        self._vigil.look(self._feed.catch_up)
        view, self._next = self._feed.view()
        return view

    def begin_at(self, position: EventPosition) -> TaskSnapshot:
        """Go on after ``position``; return the task as it was there."""
        self._vigil.look(self._feed.catch_up)
        self._next = self._feed.index_after(position)
        return task_events.view_at(self._task, position)

    def first_word(self) -> Iterator[None]:
        """Wait for the first word of the task's holder, at most ``A2A_FIRST_WORD_MS``."""
        ends_at = time.monotonic() + settings.A2A_FIRST_WORD_MS / 1000
        while not any(map(_is_word, self._feed.events[self._next :])) and (left := ends_at - time.monotonic()) > 0:
            if self._vigil.is_over:
                return
            yield from self._wait(left)

    def direct_message(self) -> Frame | None:
        """Return the one message of a task that was answered directly; None for another task."""
        event = self._feed.events[-1]
        if not event.status.is_direct:
            return None
        message: Json = {"message": v1_0.direct_message(self._task.context_id, event.status)}
        return Frame(id=str(event.position), json=encoded(self._in_version(message)))

    def snapshot(self, view: TaskSnapshot, history_length: int | None) -> Frame:
        task = v1_0.task(view, history_length=history_length, numbered=self._call.numbers_events)
        return Frame(id=str(view.position), json=encoded(self._in_version({"task": task})))

    def events(self) -> Iterator[Frame | None]:
        """Yield each event up to the last event of the stream, and None as a sign of life."""
        while True:
            while self._next < len(self._feed.events):
                event = self._feed.events[self._next]
                yield Frame(id=str(event.position), json=self._feed.rendered(self._next, self._form, self._render))
                self._next += 1
                if self._ends(event):
                    return
            left = self._ends_at - time.monotonic()
            if self._vigil.is_over or left <= 0 or self._has_ended():
                return
            yield from self._wait(left)

    def _wait(self, longest: float) -> Iterator[None]:
        if self._vigil.wait(min(settings.A2A_KEEPALIVE_MS / 1000, longest)):
            self._vigil.look(self._feed.catch_up)
        else:
            yield None

    def _has_ended(self) -> bool:
        """Whether the event before this place ended the task. Another stream may have read later events meanwhile."""
        return self._next > 0 and self._feed.events[self._next - 1].is_final

    def _ends(self, event: TaskEvent) -> bool:
        return event.is_final or (self._stops_asking and event.is_interrupting)

    @property
    def _form(self) -> str:
        return f"{self._call.version} {self._call.numbers_events} {self._stops_asking}"

    def _render(self, event: TaskEvent) -> bytes:
        response = v1_0.stream_response(
            self._task.uuid, self._task.context_id, event, numbered=self._call.numbers_events
        )
        return encoded(self._in_version(response, is_last=self._ends(event)))

    def _in_version(self, response: Json, *, is_last: bool = False) -> Json:
        return v0_3.event_out(response, ends_stream=is_last) if self._call.version == Version.V0_3 else response


def _is_word(event: TaskEvent) -> bool:
    """Whether the event has a message or an artifact of the holder, or stops the task."""
    if event.kind == EventKind.ARTIFACT or event.is_final or event.is_interrupting:
        return True
    return event.kind == EventKind.STATUS and event.status.message is not None
