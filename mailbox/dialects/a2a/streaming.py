"""Streams of a task's events: of a message that was sent, and by subscription. Source: A2A 1.0, streaming."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from mailbox.access.limits import waits
from mailbox.access.limits.waits import Vigil
from mailbox.database.bell import topics
from mailbox.dialects.a2a import sending
from mailbox.dialects.a2a.calls import Call, Version
from mailbox.dialects.a2a.errors import NoFreeSeatError, UnsupportedOperationError
from mailbox.dialects.a2a.requests import SendMessageRequest, SubscribeToTaskRequest
from mailbox.dialects.base.bodies import encoded
from mailbox.inspection import event_log, official_tasks, task_events
from mailbox.inspection.event_log import Feed
from mailbox.models import Task
from mailbox.words.a2a import v0_3, v1_0
from mailbox.words.a2a.fold import EventKind, EventPosition, TaskEvent, TaskSnapshot
from mailbox.words.errors import InvalidRequestError

LAST_EVENT_ID = "Last-Event-ID"

Json = dict[str, Any]


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
        sent = sending.send(call, body)
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
        raise UnsupportedOperationError("The task has ended. GetTask reads it.", task_id=task.uuid)
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
        raise NoFreeSeatError
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
