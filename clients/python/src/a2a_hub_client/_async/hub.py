"""A client of a hub: the methods of senders and of agents that do work, and the worker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID, uuid4

import httpx
import msgspec
from msgspec.structs import replace

from a2a_hub_client import _calls
from a2a_hub_client._async.administration import AsyncAccess, AsyncUpkeep
from a2a_hub_client._async.connection import AsyncConnection, AsyncTransport
from a2a_hub_client._async.handle import AsyncTaskHandle
from a2a_hub_client._calls import LONGEST_POLL, Id, batches, error_of_item, nothing, of_task, post, whole
from a2a_hub_client.credentials import KeySource, address, credentials
from a2a_hub_client.errors import AttemptSpentError, HubError, NotNowError
from a2a_hub_client.models.conversation import TaskUpdated, Update
from a2a_hub_client.models.tasks import (
    Acked,
    Answer,
    DeliveredResult,
    Drained,
    HeldLease,
    LeasedTask,
    LeaseState,
    NewTask,
    Posted,
    Received,
    Result,
)
from a2a_hub_client.models.wire import milliseconds, to_json
from a2a_hub_client.retry import Backoff, Duration, Patience, Retry, seconds

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

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
            after = None if resume_after is None else seconds(resume_after)
            resuming = Resuming(which=resume, after=after, attempts=resume_attempts)
            settings = WorkerSettings(function=function, concurrency=concurrency, batch=batch, resuming=resuming)
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


class AsyncSending(AsyncConnection):
    """Sends tasks as the agent of the key, and drains their results."""

    async def send(
        self,
        to: str,
        text: str,
        *,
        id: UUID | str | None = None,  # noqa: A002 (the hub's word)
        kind: str | None = None,
        parent: UUID | str | None = None,
        deadline: datetime | timedelta | None = None,
        work_timeout: timedelta | None = None,
        idempotency_key: str | None = None,
        callback_url: str | None = None,
        callback_secret: str | None = None,
    ) -> AsyncTaskHandle:
        """Send a task and return it, once the hub has stored it. `NewTask` describes the arguments.

        The same ``id`` with the same content stores the task once; None makes one. Raises `CapabilityMissingError`,
        `UnknownAgentError`, `TaskConflictError`, `InvalidRequestError`, and `ValueError` for a deadline without a time
        zone.
        """
        task = NewTask(
            to=to,
            text=text,
            id=uuid4() if id is None else UUID(str(id)),
            kind=kind,
            parent=parent,
            deadline=deadline,
            work_timeout=work_timeout,
            idempotency_key=idempotency_key,
            callback_url=callback_url,
            callback_secret=callback_secret,
        )
        queued = await self.perform(_calls.send(task.body()))
        return AsyncTaskHandle(self, queued.task_id, outcome=queued.outcome)

    async def send_many(self, new: Iterable[NewTask]) -> list[AsyncTaskHandle | HubError]:
        """Send tasks in batches; return each task, or the error of a refused task, in their order.

        A task beyond a quota or a rate is sent again while the client's patience lasts. Raises `HubError` when a whole
        batch fails; the tasks of the batches before it are stored then.
        """
        waiting = list(new)
        raw = [msgspec.Raw(to_json(task.body())) for task in waiting]
        outcomes: list[AsyncTaskHandle | HubError] = [AsyncTaskHandle(self, task.id) for task in waiting]
        for batch in batches(range(len(raw)), most=_calls.MOST_SENT, most_bytes=_calls.MOST_BYTES, size=_size(raw)):
            for place, error in (await self._send_batch({place: raw[place] for place in batch})).items():
                outcomes[place] = error
        return outcomes

    async def _send_batch(self, batch: Mapping[int, msgspec.Raw]) -> dict[int, HubError]:
        """Send tasks until each is stored or refused; return the errors of the refused tasks by their keys."""
        failed: dict[int, HubError] = {}
        backoff = Backoff(self.retry)
        places = list(batch)
        while places:
            posted = await self.perform(_calls.send_many([batch[place] for place in places]))
            refused = {places[item.index]: error_of_item(item.as_mapping()) for item in posted.refused}
            places = [place for place, error in refused.items() if isinstance(error, NotNowError)]
            pause = backoff.pause(refused[places[0]], is_repeatable=True) if places else None
            if pause is None:
                return {**failed, **refused}
            failed |= {place: error for place, error in refused.items() if place not in places}
            await asyncio.sleep(pause)
        return failed

    def task(self, task_id: Id) -> AsyncTaskHandle:
        """Return the task of this id, without a request."""
        return AsyncTaskHandle(self, task_id)

    async def results(
        self, *, wait: Duration | None = None, batch: int = 1, resume: bool = True
    ) -> AsyncIterator[Result]:
        """Yield the results of the agent's tasks, and acknowledge each when the consumer takes the next.

        A result that was not acknowledged is not lost: the next iterator yields it, too. ``wait`` is how long to wait
        for each further result, None for ever. ``batch`` is how many results one request drains, at most 100. The
        results of a batch are acknowledged together, so a consumer that is killed gets up to ``batch`` of them again.

        ``resume`` False leaves out the earlier results. Of several consumers of one agent, only one may resume.
        """
        attempt_id = uuid4()
        done: list[Id] = []
        patience = Patience(wait)
        is_idle = True
        while True:
            if resume and is_idle:  # also a receive of a killed consumer may have taken one lately
                async for earlier in self.delivered_results():
                    yield earlier
                    await self.ack([earlier.task_id])
            left = patience.left(most=LONGEST_POLL)
            drained = await self.perform(_calls.drain(attempt_id, most=batch, wait=left, ack=done))
            done = []
            is_idle = not drained.results
            if drained.results or drained.attempt_spent:
                attempt_id = uuid4()
            elif patience.is_over:
                return
            for result in drained.results:
                yield result
                done.append(result.task_id)
                patience = Patience(wait)

    async def drain(
        self,
        *,
        most: int = 1,
        wait: Duration = LONGEST_POLL,
        attempt_id: Id | None = None,
        ack: Sequence[Id] = (),
    ) -> Drained:
        """Acknowledge results, and drain the next results in one request. `results` does this in a loop.

        The same ``attempt_id`` gets the same results again. None makes one, or takes the id of an earlier drain that
        got nothing. Results whose answer was lost are in `delivered_results`. Raises `AttemptSpentError` for an id
        whose results were acknowledged.
        """
        own = attempt_id or self._transport.drains.take(most)
        drained = await self.perform(_calls.drain(own, most=most, wait=seconds(wait), ack=ack))
        if drained.attempt_spent and attempt_id is not None:
            raise AttemptSpentError("the results of this attempt id are acknowledged")
        if drained.attempt_spent:
            later = await self.drain(most=most, wait=wait)
            return replace(later, acked=drained.acked, unknown=drained.unknown, refused=drained.refused)
        if not drained.results and attempt_id is None:
            self._transport.drains.keep(own, most)
        return drained

    async def ack(self, task_ids: Sequence[Id]) -> Acked:
        """Acknowledge results, so that no drain gets them. Raises `UnknownTaskError` if all ids are unknown."""
        return await self.perform(_calls.ack(task_ids))

    def pending_results(self) -> AsyncIterator[Result]:
        """Yield the results that no drain got yet, without draining them."""
        return self.listed("/a2a/results/recent", "results", Result)

    def delivered_results(self) -> AsyncIterator[DeliveredResult]:
        """Yield the results that a drain got and that were not acknowledged."""
        return self.listed("/a2a/results/delivered", "results", DeliveredResult)


def _size(raw: Sequence[msgspec.Raw]) -> Callable[[int], int]:
    return lambda place: len(bytes(raw[place]))


class AsyncWorking(AsyncConnection):
    """Leases tasks as the agent of the key, and posts their results."""

    async def receive(
        self,
        *,
        most: int = 1,
        wait: Duration = LONGEST_POLL,
        attempt_id: Id | None = None,
        answers: Sequence[Answer] = (),
    ) -> Received:
        """Post ``answers``, then lease the oldest tasks, at most ``most``; return no lease if none comes in ``wait``.

        ``most`` and the number of ``answers`` are at most 100. ``wait`` is at most the longest wait of the hub, by
        default 50 seconds. The same ``attempt_id`` gets the same leases again, so keep an id of your own until its
        leases have arrived. None makes one, or takes the id of an earlier receive that got nothing. Leases whose answer
        was lost are in `leases`.

        Raises `AttemptSpentError` for an id whose leases have ended, and `WrongPartyError` for people.
        """
        own = attempt_id or self._transport.receives.take(most)
        waiting = {"max": most, "wait_ms": milliseconds(wait), "attempt_id": own}
        fields = {**waiting, "results": [answer.body() for answer in answers] or None}
        received = await self.perform(post("/a2a/tasks/lease", fields, whole(Received), wait=seconds(wait)))
        if received.attempt_spent and attempt_id is not None:
            raise AttemptSpentError("the leases of this attempt id have ended")
        if received.attempt_spent:
            return replace(await self.receive(most=most, wait=wait), posted=received.posted, refused=received.refused)
        if not received.leases and attempt_id is None:
            self._transport.receives.keep(own, most)
        return received

    async def lease(self, task_id: Id, *, attempt_id: Id | None = None) -> LeasedTask:
        """Lease one task, queued or interrupted, before older tasks.

        Raises `UnknownTaskError`, `AlreadyResolvedError`, and `NotInFlightError` for a task that is leased already.
        """
        return await self.perform(
            post(of_task(task_id, "lease"), {"attempt_id": attempt_id or uuid4()}, whole(LeasedTask))
        )

    def leases(self) -> AsyncIterator[HeldLease]:
        """Yield the live leases of the agent."""
        return self.listed("/a2a/leases", "leases", HeldLease)

    async def heartbeat(self, task_id: Id, *, lease_id: Id | None = None) -> LeaseState:
        """Say that the work goes on. The hub ends no lease for a missing heartbeat.

        After one heartbeat and then silence, another worker of the agent may take over an idempotent task. That silence
        is 45 seconds by default, or the ``resume_after`` of the other worker.

        Raises `LeaseMismatchError` or `NotInFlightError` once the lease has ended.
        """
        return await self.perform(post(of_task(task_id, "heartbeat"), {"lease_id": lease_id}, whole(LeaseState)))

    async def post_updates(
        self,
        task_id: Id,
        updates: Sequence[Update | Mapping[str, Any]],
        *,
        lease_id: Id | None = None,
        attempt_id: Id | None = None,
    ) -> TaskUpdated:
        """Post messages, progress, artifacts or a question, in order.

        The same ``attempt_id`` with the same updates posts them once; None makes one. Raises as `heartbeat`,
        `NotAskableError` and `TaskTooLargeError`.
        """
        posted = [update.fields if isinstance(update, Update) else update for update in updates]
        fields = {"updates": posted, "lease_id": lease_id, "attempt_id": attempt_id or uuid4()}
        return await self.perform(post(of_task(task_id, "updates"), fields, whole(TaskUpdated)))

    async def post_result(self, answer: Answer) -> None:
        """Post the result of a task. Posting the same one again changes nothing.

        Raises `LeaseMismatchError` unless the lease of ``answer`` is live, `ResultConflictError`,
        `AlreadyResolvedError` and `CapabilityMissingError`.
        """
        return await self.perform(post("/a2a/results", answer.body(), nothing))

    async def post_results(self, answers: Sequence[Answer]) -> Posted:
        """Post up to 100 results. Each has its own outcome."""
        fields = {"results": [answer.body() for answer in answers]}
        return await self.perform(post("/a2a/results/batch", fields, whole(Posted)))


class AsyncHub(AsyncSending, AsyncWorking, AsyncHandling, AsyncAccess, AsyncUpkeep):
    """A client of one hub, with one key, for asyncio.

    Every method raises `RefusedError` when the hub refuses the request, and `NotNowError` when the hub does not answer
    within the patience of ``retry``. Close it, or use it in an ``async with``. A process that is forked makes
    connections of its own.
    """

    def __init__(
        self,
        url: str | None = None,
        key: KeySource | None = None,
        *,
        signing_key: Ed25519PrivateKey | str | None = None,
        retry: Retry | None = None,
        timeout: Duration = 10.0,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """Make a client. It sends nothing yet.

        ``url`` is the hub's base URL, None for that in ``A2A_URL``. ``key`` is an API key, or a function that returns
        the key of the next request, None for that in ``A2A_API_KEY``. A ``signing_key`` signs each request instead; its
        ``url`` is the public URL of the hub. ``retry`` None repeats requests for 30 seconds. ``timeout`` is how long
        the hub may take to answer, beside the wait of a long poll. ``transport`` replaces the network, in tests.

        Raises `ValueError` for a missing or malformed URL or key.
        """
        self._transport = AsyncTransport(
            address(url),
            credentials(key, signing_key),
            retry=retry or Retry(),
            timeout=timeout,
            transport=transport,
        )

    @property
    def url(self) -> str:
        """The hub's base URL, without a final slash."""
        return self._transport.url

    async def close(self) -> None:
        """Close the connections."""
        await self._transport.close()

    async def __aenter__(self) -> AsyncHub:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
