"""The hub's API for a worker of batches: results go out together, in the request that leases the next tasks."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

import msgspec

from a2a_hub_client import _failures
from a2a_hub_client.errors import AttemptSpentError, HubError, RefusedError
from a2a_hub_client.refusals import ForbiddenError
from a2a_hub_client.worker.client import Json, Line, Read, T, WorkerClient
from a2a_hub_client.worker.leased_task import LeasedTask, TaskResult

MOST = 100  # tasks or results of one request; the hub takes no more
WAIT = 0.5  # seconds
RESULT_BYTES = 800_000  # of JSON in one request, well below the default body limit of a hub


class BatchingClient(WorkerClient):
    """A client that posts results in batches. A thread with a result waits until another thread has posted it.

    Only one thread may call `receive` and `post_pending`, which post the results.
    """

    def __init__(self, line: Line) -> None:
        super().__init__(line)
        self._lock = threading.Lock()
        self._pending: list[_Posting] = []
        self._is_closed = False

    @property
    def pending(self) -> int:
        return len(self._pending)

    @property
    def pending_for(self) -> float:
        with self._lock:
            return time.monotonic() - self._pending[0].since if self._pending else 0.0

    def answer(self, leased: LeasedTask, answer: TaskResult, meanwhile: Callable[[], object]) -> None:
        """Post the result with the next batch, and return once the hub has it. Raises the error of this result."""
        posting = _Posting(answer.body(leased))
        with self._lock:
            if self._is_closed:
                posting.decide(alone=True)
            else:
                self._pending.append(posting)
                self.changed.set()
        while not posting.is_decided():
            meanwhile()
        if posting.is_alone():
            super().answer(leased, answer, meanwhile)

    def receive(self, attempt_id: UUID, *, most: int, wait: float) -> list[LeasedTask]:
        """Post the pending results, then lease the oldest tasks, at most ``most``. Raises as `WorkerClient.receive`.

        A repeat gets the same leases. The results of a failed request stay pending, and the next request posts them.
        """
        body = {"attempt_id": str(attempt_id), "wait_ms": int(wait * 1000), "max": min(most, MOST)}
        leases, is_spent = self._post_batch("/a2a/tasks/lease", body, _leases, wait=wait) or ([], False)
        if is_spent:
            raise AttemptSpentError("the leases of this attempt id have ended")
        return leases

    def post_pending(self) -> None:
        """Post the pending results, without leasing."""
        while self._pending:
            self._post_batch("/a2a/results/batch", {}, dict)

    def stop_batches(self) -> None:
        """Let each result, also each pending one, be posted by a request of its own from now on."""
        with self._lock:
            self._is_closed = True
            self._settle(self._pending, alone=True)

    def _post_batch(self, path: str, body: Mapping[str, Any], read: Read[T], *, wait: float = 0.0) -> T | None:
        """Send the request with the pending results, settle them, and ``read`` the rest of the answer.

        Results of a refused request go out alone. The answer is then None.
        """
        batch = self._batch()
        results = {"results": [posting.body for posting in batch]} if batch else {}
        try:
            refused, answer = self._post(
                path, {**body, **results}, lambda json: (_refused(json), read(json)), wait=wait
            )
        except ForbiddenError:
            raise
        except RefusedError:
            if not batch:
                raise
            with self._lock:
                self._settle(batch, alone=True)
            return None
        with self._lock:
            self._settle(batch, refused)
        return answer

    def _batch(self) -> list[_Posting]:
        """Return the oldest pending results that go into one request, at least one if there is any."""
        batch: list[_Posting] = []
        size = 0
        with self._lock:
            for posting in self._pending[:MOST]:
                size += posting.size
                if batch and size > RESULT_BYTES:
                    break
                batch.append(posting)
        return batch

    def _settle(
        self, batch: Sequence[_Posting], refused: Mapping[int, HubError] | None = None, *, alone: bool = False
    ) -> None:
        """Decide the oldest pending results, which are ``batch``. ``refused`` are errors by place in the batch."""
        settled = list(batch)
        del self._pending[: len(settled)]
        for place, posting in enumerate(settled):
            posting.decide((refused or {}).get(place), alone=alone)


def _leases(answer: Json) -> tuple[list[LeasedTask], bool]:
    return [LeasedTask.of(leased) for leased in answer["leases"]], bool(answer.get("attempt_spent"))


def _refused(answer: Json) -> dict[int, HubError]:
    return {one["index"]: _failures.of_item(one) for one in answer["refused"]}


class _Posting:
    """A result on its way to the hub."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        self.body = body
        self.size = len(msgspec.json.encode(body))
        self.since = time.monotonic()
        self._decided = threading.Event()
        self._error: HubError | None = None
        self._is_alone = False

    def decide(self, error: HubError | None = None, *, alone: bool = False) -> None:
        """Report the hub's outcome. ``alone``: there is none, and the result needs a request of its own."""
        self._error, self._is_alone = error, alone
        self._decided.set()

    def is_decided(self) -> bool:
        """Wait for the decision, but only briefly. Return whether it was made."""
        return self._decided.wait(WAIT)

    def is_alone(self) -> bool:
        """Return whether the result needs a request of its own, once it is decided. Raises the error of its result."""
        if self._error is not None:
            raise self._error
        return self._is_alone
