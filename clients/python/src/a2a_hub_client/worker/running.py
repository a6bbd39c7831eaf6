"""Runs the worker of a client: for threads, or for asyncio."""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

import httpx

from a2a_hub_client.errors import HubError
from a2a_hub_client.retry import Retry
from a2a_hub_client.worker.client import BatchingClient, Line
from a2a_hub_client.worker.functions import Functions, FunctionSettings
from a2a_hub_client.worker.orphans import Resuming
from a2a_hub_client.worker.worker import StopSignals, Worker, heard_signals

if TYPE_CHECKING:
    from a2a_hub_client._async.connection import AsyncTransport
    from a2a_hub_client._sync.connection import Transport

log = logging.getLogger("a2a_hub_client")
AnyLine = TypeVar("AnyLine")


class WorkerFailedError(HubError):
    """The worker could not go on; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSettings:
    """A handler, and how the worker calls it. ``batch`` None: as many as ``concurrency``. Times are in seconds."""

    function: FunctionSettings
    concurrency: int = 1
    batch: int | None = None
    resuming: Resuming = field(default_factory=Resuming)

    def __post_init__(self) -> None:
        """Raise `ValueError` for a setting that makes no sense."""
        if self.concurrency < 1:
            raise ValueError("concurrency must be at least 1")
        if self.batch is not None and self.batch < self.concurrency:
            raise ValueError("batch must be at least concurrency, or the worker never does so much at once")
        if self.function.heartbeat <= 0 or self.function.grace < 0:
            raise ValueError("heartbeat must be positive, and grace at least 0")
        self.resuming.silence(self.function.heartbeat)


class BaseRunning(Generic[AnyLine]):
    """Runs one worker after the other, each until it ends. A stop counts for the latest run."""

    def __init__(self, line: AnyLine, settings: WorkerSettings) -> None:
        self._line = line
        self._settings = settings
        self._stops = StopSignals()  # of the latest run; of the first one before it has begun
        self._worker: Worker | None = None  # of the latest run

    def stop(self) -> None:
        """Stop the worker, or the first one before it has begun. A second call stops it at once."""
        self._stops.count += 1

    def next_worker(
        self, line: Line, *, max_tasks: int | None, loop: asyncio.AbstractEventLoop | None = None
    ) -> Worker:
        """Return the worker of a run that begins now. Stops after the end of the run before are forgotten."""
        if self._worker is not None:
            self._stops = StopSignals()
        how = self._settings
        self._worker = Worker(
            BatchingClient(line),
            None,
            Functions(how.function, loop=loop),
            concurrency=how.concurrency,
            batch=how.batch or how.concurrency,
            max_tasks=max_tasks,
            resuming=how.resuming,
            signals=self._stops,
            say=log.info,
        )
        return self._worker


class Running(BaseRunning["Transport"]):
    """Runs workers in the thread of the caller."""

    def run(self, *, max_tasks: int | None = None) -> None:
        """Work until the worker is stopped. Raises `WorkerFailedError`."""
        check(self.next_worker(self._line, max_tasks=max_tasks).run())


class AsyncRunning(BaseRunning["AsyncTransport"]):
    """Runs workers in threads. Coroutines run on the loop of the caller."""

    async def run(self, *, max_tasks: int | None = None) -> None:
        """Work until the worker is stopped. Raises `WorkerFailedError`.

        A cancelled call stops the worker and waits for its end. A second cancellation stops it at once.
        """
        loop = asyncio.get_running_loop()
        line = line_for_threads(self._line)
        worker = self.next_worker(line, max_tasks=max_tasks, loop=loop)
        ended: asyncio.Future[str | None] = loop.create_future()

        def work() -> None:
            try:
                failure = worker.run()
            except BaseException as error:
                log.error("the worker broke", exc_info=error)
                failure = f"{type(error).__name__}: {error}"
            loop.call_soon_threadsafe(ended.set_result, failure)

        try:
            with signals_stop(worker, loop):
                threading.Thread(target=work, name="a2a worker", daemon=True).start()
                is_cancelled = await until_ended(ended, worker)
        finally:
            line.close()
        if is_cancelled:
            raise asyncio.CancelledError
        check(ended.result())


async def until_ended(ended: asyncio.Future[str | None], worker: Worker) -> bool:
    """Wait for the end of the worker, which each cancellation stops; return whether there was one."""
    is_cancelled = False
    while not ended.done():
        try:
            await asyncio.shield(ended)
        except asyncio.CancelledError:  # noqa: PERF203 (a second one stops the worker at once)
            is_cancelled = True
            worker.stop()
    return is_cancelled


def check(failure: str | None) -> None:
    """Raise the failure of a worker, if there is one."""
    if failure is not None:
        raise WorkerFailedError(failure)


def line_for_threads(line: AsyncTransport) -> Transport:
    """Return a connection for threads with the same credentials. Raises `ValueError` if the network was replaced.

    A replaced network may serve threads, too.
    """
    from a2a_hub_client._sync.connection import Transport

    if line.replaced is not None and not isinstance(line.replaced, httpx.BaseTransport):
        raise ValueError("the transport of a worker must be an httpx.BaseTransport, too")
    return Transport(line.url, line.credentials, retry=Retry(patience=0), timeout=line.timeout, transport=line.replaced)


@contextmanager
def signals_stop(worker: Worker, loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Let signals stop the worker within the block, where the loop can hear them."""
    heard: list[signal.Signals] = []
    with suppress(NotImplementedError, RuntimeError, ValueError):
        for number in heard_signals():
            loop.add_signal_handler(number, worker.stop)
            heard.append(number)
    try:
        yield
    finally:
        for number in heard:
            loop.remove_signal_handler(number)
