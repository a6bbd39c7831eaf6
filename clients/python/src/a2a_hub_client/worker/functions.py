"""Python functions as the work of a worker: each task is one call, in a thread or on an event loop."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from a2a_hub_client.worker.calls import CoroutineCall, FunctionCall, ThreadCall
from a2a_hub_client.worker.closings import Returned
from a2a_hub_client.worker.leased_task import LeasedTask
from a2a_hub_client.worker.task import Task

if TYPE_CHECKING:
    from typing_extensions import Self

Handler = Callable[[Task], "Returned | Awaitable[Returned]"]
TO_END_LOOP = 1.0  # seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionSettings:
    """The function to call for each task, and how. ``heartbeat`` and ``grace`` are seconds.

    With ``show_traceback`` the sender of a task gets the traceback of an exception, and not only its message.
    """

    handler: Handler
    heartbeat: float = 10.0
    grace: float = 10.0
    show_traceback: bool = False


class Functions:
    """Calls a function for each task: a plain one in a thread, a coroutine function on an event loop."""

    def __init__(self, settings: FunctionSettings, *, loop: asyncio.AbstractEventLoop | None = None) -> None:
        """``loop`` is where coroutines run. None: they get a loop of their own."""
        self.name = getattr(settings.handler, "__qualname__", repr(settings.handler))
        self.heartbeat, self.grace = settings.heartbeat, settings.grace
        self._settings = settings
        self._given_loop = loop
        self._own_loop: OwnLoop | None = None

    def __enter__(self) -> Self:
        if is_coroutine_function(self._settings.handler) and self._given_loop is None:
            self._own_loop = OwnLoop()
        return self

    def __exit__(self, *_: object) -> None:
        if self._own_loop is not None:
            self._own_loop.end()

    def job(self, leased: LeasedTask) -> FunctionCall:
        """Return a call that has not begun."""
        how = self._settings
        if not is_coroutine_function(how.handler):
            return ThreadCall(leased, how.handler, grace=how.grace, show_traceback=how.show_traceback)
        loop = self._given_loop
        if loop is None:
            assert self._own_loop is not None  # noqa: S101 (the block of this work has begun)
            loop = self._own_loop.loop
        return CoroutineCall(leased, how.handler, grace=how.grace, show_traceback=how.show_traceback, loop=loop)


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
