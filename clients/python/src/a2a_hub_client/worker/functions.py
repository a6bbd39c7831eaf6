"""Python functions as the work of a worker: each task is one call, in a thread or on an event loop.

The function returns the result of the task, or a question.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import threading
import time
import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from a2a_hub_client.models.conversation import Update
from a2a_hub_client.models.tasks import Answer, Result
from a2a_hub_client.models.wire import Block, JsonBlock, blocks_of
from a2a_hub_client.worker.job import ASKING, Job, LeasedTask, Stop, TaskResult, Updates, plain
from a2a_hub_client.worker.task import Task

if TYPE_CHECKING:
    from typing_extensions import Self

LONGEST_COMPLAINT = 8_000  # characters of an exception in a result
TO_END_LOOP = 1.0  # seconds

# A text, content blocks, or a dict, which becomes one JSON block. None: done, without content. A `Result` is that of
# another task, passed on.
Returned = str | Block | list[Block] | dict[str, Any] | Answer | Result | Update | None
log = logging.getLogger("a2a_hub_client")
Handler = Callable[[Task], "Returned | Awaitable[Returned]"]


def closing_of(returned: object, task: Task) -> TaskResult:
    """Return the result or the question. Raises `TypeError` or `ValueError` for what is neither."""
    if task.closing is not None and returned is not task.closing:
        raise TypeError("the handler has to return what task.ask() or task.reject() made")
    spoken, _ = plain(_spoken(returned))
    return TaskResult(spoken=spoken)


def _spoken(returned: object) -> Mapping[str, Any]:
    if isinstance(returned, Update) and returned.fields.get("status") in ASKING:
        return returned.fields
    if isinstance(returned, Answer):
        return {key: value for key, value in returned.body().items() if key not in ("task_id", "lease_id")}
    if isinstance(returned, Result):
        fields = {"error_message": returned.error_message, "message": returned.message}
        present = {key: value for key, value in fields.items() if value}
        return {"status": returned.status, "content": returned.content, **present}
    return {"status": "ok", "content": _content(returned)}


def _content(returned: object) -> list[Block]:
    if returned is None:
        return []
    if isinstance(returned, (str, Block)):
        return blocks_of(returned)
    if isinstance(returned, dict):
        return [JsonBlock(returned)]
    if isinstance(returned, list) and all(isinstance(block, Mapping) and "type" in block for block in returned):
        return blocks_of(returned)
    wanted = "a str, a dict, a list of content blocks, task.answer(), task.ask(), task.reject() or None"
    raise TypeError(f"the handler returned a {type(returned).__name__}, and must return {wanted}")


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionSettings:
    """The function to call for each task, and how. ``heartbeat`` and ``grace`` are seconds.

    With ``show_traceback`` the sender of a task gets the traceback of an exception, and not only its message.
    """

    handler: Handler
    heartbeat: float = 10.0
    grace: float = 10.0
    show_traceback: bool = False


class FunctionCall(Job):
    """A call of a handler. It ends when the handler returns or raises, or when it is given up.

    No thread can be stopped. A handler that goes on after it was given up keeps its place among the worker's, and what
    it returns is dropped.
    """

    _may_wait: bool  # whether the methods of the task may wait for the hub

    is_strict = True

    def __init__(
        self, leased: LeasedTask, settings: FunctionSettings, loop: asyncio.AbstractEventLoop | None = None
    ) -> None:
        """``loop`` is where a coroutine runs."""
        self.updates = Updates()
        self._settings = settings
        self._handler: Callable[[Task], Any] = settings.handler
        self._loop = loop
        self._task = Task(leased, self.updates, may_wait=self._may_wait)
        self._times_out_at = None if leased.time_limit is None else time.monotonic() + leased.time_limit
        self._closing: TaskResult | None = None
        self._lock = threading.RLock()
        self._ended = threading.Event()
        self._over = threading.Event()  # ended or given up
        self._timers: list[threading.Timer] = []

    def start(self, conversation: Sequence[Mapping[str, Any]]) -> None:
        self._task.hear(conversation)
        if self._times_out_at is not None:
            self._after(max(0.0, self._times_out_at - time.monotonic()), lambda: self.stop(Stop.TIMED_OUT))
        self._begin()

    def hear(self, messages: Sequence[Mapping[str, Any]]) -> None:
        self._task.hear(messages)

    def wait(self, seconds: float) -> bool:
        return self._over.wait(seconds)

    def stop(self, why: Stop, *, at_once: bool = False) -> None:
        """Set ``task.cancelled``, and cancel a coroutine. Only a worker that stops waits for the end, up to its grace.

        For any other reason the handler is given up at once: the hub has its reason already, or must have it in time.
        """
        with self._lock:
            if self._over.is_set():
                return
            self.stopped = self.stopped or why
            self._task.cancelled.set()
            self._cancel()
            if why == Stop.WORKER_STOPPED and not at_once:
                self._after(self._settings.grace, self._give_up)
            else:
                self._give_up()

    def conclude(self) -> None:
        """Do nothing: a handler has ended when it has concluded."""

    def close(self) -> None:
        """Do nothing: a handler has no files."""

    def await_end(self) -> None:
        self._ended.wait()

    @property
    def has_concluded(self) -> bool:
        return self._closing is not None

    @property
    def closing(self) -> TaskResult:
        assert self._closing is not None  # noqa: S101 (a call that was not stopped has one)
        return self._closing

    def _begin(self) -> None:
        """Begin the call. `_finish` has to be called at its end."""
        raise NotImplementedError

    def _cancel(self) -> None:
        """Cancel the call if it can be."""
        raise NotImplementedError

    def _finish(self, call: Callable[[], Any]) -> None:
        """End the call. ``call`` returns what the handler returned, or raises what it raised."""
        try:
            closing: TaskResult | None = closing_of(call(), self._task)
        except BaseException as error:  # noqa: BLE001 (also SystemExit: a handler is no program)
            closing = self._failed(error)
        with self._lock:
            if self._over.is_set():
                log.warning("task %s: its handler ended after it was given up; its result is dropped", self._task.id)
            else:
                self._closing = closing
            self.ended_at = time.monotonic()
            self._ended.set()
            self._give_up()

    def _failed(self, error: BaseException) -> TaskResult | None:
        """Return the error as a result; None if the handler was stopped, which the exception then comes from."""
        if self.stopped is not None:
            return None
        log.error("task %s: its handler failed", self._task.id, exc_info=error)
        text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        if self._settings.show_traceback:
            text = "".join(traceback.format_exception(type(error), error, error.__traceback__)).strip()
        text = text.replace("\0", "").encode(errors="replace").decode()
        return TaskResult(error_message=text if len(text) <= LONGEST_COMPLAINT else f"...{text[-LONGEST_COMPLAINT:]}")

    def _give_up(self) -> None:
        """Let the attempt go on without the handler."""
        with self._lock:
            self._over.set()
            self._task.end()
            self.updates.close()
            for timer in self._timers:
                timer.cancel()

    def _after(self, seconds: float, act: Callable[[], None]) -> None:
        timer = threading.Timer(seconds, act)
        timer.daemon = True
        self._timers.append(timer)
        timer.start()


class ThreadCall(FunctionCall):
    """A call in a thread of its own."""

    _may_wait = True

    def _begin(self) -> None:
        threading.Thread(target=self._run, name=f"a2a task {self._task.id}", daemon=True).start()

    def _run(self) -> None:
        self._finish(lambda: self._handler(self._task))

    def _cancel(self) -> None:
        """Do nothing: a thread looks at ``task.cancelled``."""


class CoroutineCall(FunctionCall):
    """A call on an event loop."""

    _may_wait = False

    _loop: asyncio.AbstractEventLoop
    _running: asyncio.Task[Any] | None = None

    def _begin(self) -> None:
        self._loop.call_soon_threadsafe(self._call)

    def _call(self) -> None:
        self._running = self._loop.create_task(self._called())
        self._running.add_done_callback(lambda done: self._finish(done.result))
        if self._task.cancelled.is_set():
            self._running.cancel()

    async def _called(self) -> Any:
        try:
            return await self._handler(self._task)
        except (SystemExit, KeyboardInterrupt) as error:  # would end the loop
            raise RuntimeError(f"the handler raised {type(error).__name__}") from error

    def _cancel(self) -> None:
        self._loop.call_soon_threadsafe(self._cancel_on_loop)

    def _cancel_on_loop(self) -> None:
        if self._running is not None:
            self._running.cancel()


class Functions:
    """Calls a function for each task: a plain one in a thread, a coroutine function on an event loop."""

    def __init__(self, settings: FunctionSettings, *, loop: asyncio.AbstractEventLoop | None = None) -> None:
        """``loop`` is where coroutines run. None: they get a loop of their own."""
        self.name = getattr(settings.handler, "__qualname__", repr(settings.handler))
        self.heartbeat, self.grace = settings.heartbeat, settings.grace
        self._settings = settings
        self._loop = loop
        self._own_loop: OwnLoop | None = None

    def __enter__(self) -> Self:
        if is_coroutine_function(self._settings.handler) and self._loop is None:
            self._own_loop = OwnLoop()
            self._loop = self._own_loop.loop
        return self

    def __exit__(self, *_: object) -> None:
        if self._own_loop is not None:
            self._own_loop.end()

    def job(self, leased: LeasedTask) -> FunctionCall:
        """Return a call that has not begun."""
        kind = CoroutineCall if is_coroutine_function(self._settings.handler) else ThreadCall
        return kind(leased, self._settings, self._loop)


class OwnLoop:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name="a2a handlers", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """End the loop. If a coroutine blocks it, the loop ends with the process."""
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(TO_END_LOOP)
        if not self._thread.is_alive():
            self.loop.close()


def is_coroutine_function(handler: Handler) -> bool:
    """Whether calling the handler makes a coroutine."""
    return inspect.iscoroutinefunction(handler) or inspect.iscoroutinefunction(type(handler).__call__)
