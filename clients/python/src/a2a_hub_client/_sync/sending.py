# Written by clients/python/write_sync.py from _async. Change that folder.
"""The methods of senders: send tasks, and get their results."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from uuid import UUID, uuid4

import msgspec

from a2a_hub_client._calls import tasks, work
from a2a_hub_client._calls.call import Id, batches
from a2a_hub_client._failures import of_item
from a2a_hub_client._sync.connection import Connection
from a2a_hub_client._sync.handle import TaskHandle
from a2a_hub_client.errors import AttemptSpentError, HubError, NotNowError
from a2a_hub_client.models.sent import Acked, Drained, NewTask
from a2a_hub_client.models.tasks import DeliveredResult, Result
from a2a_hub_client.models.wire import to_json
from a2a_hub_client.retry import Backoff, Duration, Patience, seconds


class Sending(Connection):
    """Sends tasks as the agent of the key, and drains their results."""

    def send(
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
    ) -> TaskHandle:
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
        queued = self.perform(tasks.send(task.body()))
        return TaskHandle(self, queued.task_id, outcome=queued.outcome)

    def send_many(self, new: Iterable[NewTask]) -> list[TaskHandle | HubError]:
        """Send tasks in batches; return each task, or the error of a refused task, in their order.

        A task beyond a quota or a rate is sent again while the client's patience lasts. Raises `HubError` when a whole
        batch fails; the tasks of the batches before it are stored then.
        """
        waiting = list(new)
        raw = [msgspec.Raw(to_json(task.body())) for task in waiting]
        found: list[TaskHandle | HubError] = [TaskHandle(self, task.id) for task in waiting]
        for batch in batches(range(len(raw)), most=tasks.MOST_SENT, most_bytes=tasks.MOST_BYTES, size=_size(raw)):
            for place, error in (self._send_batch({place: raw[place] for place in batch})).items():
                found[place] = error
        return found

    def _send_batch(self, batch: Mapping[int, msgspec.Raw]) -> dict[int, HubError]:
        """Send tasks until each is stored or refused; return the errors of the refused tasks by their keys."""
        failed: dict[int, HubError] = {}
        backoff = Backoff(self.retry)
        places = list(batch)
        while places:
            posted = self.perform(tasks.send_many([batch[place] for place in places]))
            refused = {places[item.index]: of_item(item.as_mapping()) for item in posted.refused}
            places = [place for place, error in refused.items() if isinstance(error, NotNowError)]
            pause = backoff.pause(refused[places[0]], is_repeatable=True) if places else None
            if pause is None:
                return {**failed, **refused}
            failed |= {place: error for place, error in refused.items() if place not in places}
            time.sleep(pause)
        return failed

    def task(self, task_id: Id) -> TaskHandle:
        """Return the task of this id, without a request."""
        return TaskHandle(self, task_id)

    def results(self, *, wait: Duration | None = None, batch: int = 1, resume: bool = True) -> Iterator[Result]:
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
                for earlier in self.delivered_results():
                    yield earlier
                    self.ack([earlier.task_id])
            left = patience.left(most=tasks.LONGEST_POLL)
            drained = self.perform(work.drain(attempt_id, most=batch, wait=left, ack=done))
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

    def drain(
        self,
        *,
        most: int = 1,
        wait: Duration = tasks.LONGEST_POLL,
        attempt_id: Id | None = None,
        ack: Sequence[Id] = (),
    ) -> Drained:
        """Acknowledge results, and drain the next results in one request. `results` does this in a loop.

        The same ``attempt_id`` gets the same results again; None makes one. Raises `AttemptSpentError` for an id whose
        results were acknowledged.
        """
        drained = self.perform(work.drain(attempt_id or uuid4(), most=most, wait=seconds(wait), ack=ack))
        if drained.attempt_spent and attempt_id is not None:
            raise AttemptSpentError("the results of this attempt id are acknowledged")
        return drained

    def ack(self, task_ids: Sequence[Id]) -> Acked:
        """Acknowledge results, so that no drain gets them. Raises `UnknownTaskError` if all ids are unknown."""
        return self.perform(work.ack(task_ids))

    def pending_results(self) -> Iterator[Result]:
        """Yield the results that no drain got yet, without draining them."""
        return self.listed(work.pending_results)

    def delivered_results(self) -> Iterator[DeliveredResult]:
        """Yield the results that a drain got and that were not acknowledged."""
        return self.listed(work.delivered_results)


def _size(raw: Sequence[msgspec.Raw]) -> Callable[[int], int]:
    return lambda place: len(bytes(raw[place]))
