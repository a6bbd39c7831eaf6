"""The worker of a client: a function that handles the tasks of the agent."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from a2a_hub_client._async.connection import AsyncConnection
from a2a_hub_client.retry import Duration, seconds

if TYPE_CHECKING:
    from a2a_hub_client.worker.functions import Handler
    from a2a_hub_client.worker.orphans import Resume
    from a2a_hub_client.worker.running import AsyncRunning

AnyHandler = TypeVar("AnyHandler", bound="Handler")


class AsyncHandling(AsyncConnection):
    """Works on the tasks of the key's agent with a function."""

    _running: AsyncRunning | None = None

    def worker(
        self,
        *,
        concurrency: int = 1,
        batch: int | None = None,
        heartbeat: Duration = 10.0,
        grace: Duration = 10.0,
        resume: Resume = "idempotent",
        resume_after: Duration | None = None,
        resume_attempts: int = 5,
        show_traceback: bool = False,
    ) -> Callable[[AnyHandler], AnyHandler]:
        """Let the decorated function handle each task that `run` leases.

        The function gets a `Task`. It returns a text, a dict as one JSON block, a list of content blocks, None, or what
        a method of the task made. An exception becomes an error result with its type and message, and with
        ``show_traceback`` its traceback. A plain function runs in a thread, a coroutine function on an event loop.

        ``concurrency`` tasks are handled at once. Up to ``batch`` tasks are leased, None for as many as are handled. A
        heartbeat is sent every ``heartbeat``. When the worker stops, running handlers have ``grace`` to finish, and
        another after ``task.cancelled`` is set.

        ``resume`` says which leases of crashed workers `run` takes over: "idempotent" for tasks whose sender allows
        them to be done twice, "all", or "none". A worker counts as crashed when its heartbeats stand still for
        ``resume_after``. It must be longer than the heartbeat of each worker of the agent. None is at least 30 seconds,
        and at least three heartbeats and 15 seconds. A holder that never sent a heartbeat keeps its lease. A task that
        was leased ``resume_attempts`` times is left to an operator.

        Raises `ValueError` for settings that make no sense, and if the client has a handler already.
        """
        from a2a_hub_client.worker.functions import FunctionSettings
        from a2a_hub_client.worker.orphans import Resuming
        from a2a_hub_client.worker.running import AsyncRunning, WorkerSettings

        if self._running is not None:
            raise ValueError("this client has a handler already: an agent has one queue, so decide by task.kind")

        def register(handler: AnyHandler) -> AnyHandler:
            function = FunctionSettings(
                handler=handler, heartbeat=seconds(heartbeat), grace=seconds(grace), show_traceback=show_traceback
            )
            settings = WorkerSettings(
                function=function,
                concurrency=concurrency,
                batch=batch,
                resuming=Resuming(
                    which=resume,
                    after=None if resume_after is None else seconds(resume_after),
                    attempts=resume_attempts,
                ),
            )
            self._running = AsyncRunning(self._transport, settings)
            return handler

        return register

    async def run(self, *, max_tasks: int | None = None) -> None:
        """Lease tasks and handle them, until a signal or `stop` stops the worker, or ``max_tasks`` are done.

        In the main thread SIGINT and SIGTERM stop the worker; a second signal stops it at once. Each task is then
        answered or released. Raises `WorkerFailedError` if the key is refused, or if the hub did not get the outcome
        of a task. Raises `ValueError` without a handler.
        """
        if self._running is None:
            raise ValueError("this client has no handler: decorate a function with @hub.worker()")
        await self._running.run(max_tasks=max_tasks)

    def stop(self) -> None:
        """Stop `run`, from any thread, as one signal does.

        Before the first run it ends that run at once. After the end of a run it does nothing.
        """
        if self._running is not None:
            self._running.stop()
