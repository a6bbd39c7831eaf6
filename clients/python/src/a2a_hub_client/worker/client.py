"""The hub's API as a worker uses it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import UUID

import httpx

from a2a_hub_client.worker.errors import AttemptSpentError, NotNowError, failure
from a2a_hub_client.worker.leased_task import LeasedTask, TaskResult

ANSWER_WITHIN = 10.0  # seconds, beside the wait of a long poll
PAGE = 100  # messages or leases of one request

Authorize = Callable[[httpx.Request], httpx.Request]


def bearer(key: Callable[[], str]) -> Authorize:
    """Return the authorization by an API key. ``key`` returns it, and is called for each request."""

    def authorize(request: httpx.Request) -> httpx.Request:
        request.headers["Authorization"] = f"Bearer {key()}"
        return request

    return authorize


class Hub:
    """A client of the hub for one agent. Threads may share it.

    Every method raises `NotNowError` or `RefusedError` on failure. Methods that take a lease also raise
    `LeaseEndedError`.
    """

    def __init__(self, url: str, authorize: Authorize) -> None:
        """``authorize`` adds the headers that tell the agent to each request."""
        self.url = url
        self.changed = threading.Event()  # set when a result becomes pending
        self._http = httpx.Client(
            base_url=url,
            auth=authorize,
            timeout=ANSWER_WITHIN,
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=20),
        )

    @property
    def pending(self) -> int:
        """The number of results that wait to be posted. This client posts each result at once."""
        return 0

    @property
    def pending_for(self) -> float:
        """How long the oldest of these results has waited, in seconds; 0 without one."""
        return 0.0

    def me(self) -> dict[str, Any]:
        """Return the ``agent`` or the ``person`` that owns the key. A hub of an earlier version refuses that."""
        answer: dict[str, Any] = self._get("a2a/me", {})
        return answer

    def receive(self, attempt_id: UUID, *, most: int, wait: float) -> list[LeasedTask]:
        """Lease the oldest task, waiting up to ``wait`` seconds for it. A repeat gets the same lease.

        A client of batches leases up to ``most`` tasks. Also raises `AttemptSpentError`.
        """
        body = {"attempt_id": str(attempt_id), "wait_ms": int(wait * 1000)}
        answer = self._post("a2a/tasks/next", body, timeout=wait + ANSWER_WITHIN)
        if answer["task"] is None:
            if answer.get("attempt_spent"):
                raise AttemptSpentError("the leases of this attempt id have ended")
            return []
        return [LeasedTask.of(answer)]

    def lease(self, task_id: str, attempt_id: UUID) -> LeasedTask:
        """Lease this task, before older ones. A repeat gets the same lease while it is live."""
        return LeasedTask.of(self._post(f"a2a/tasks/{task_id}/lease", {"attempt_id": str(attempt_id)}))

    def leases(self) -> list[dict[str, Any]]:
        """Return all live leases of the agent, oldest first, also those of other workers."""
        leases: list[dict[str, Any]] = []
        page: dict[str, Any] = {"next_cursor": ""}
        while page["next_cursor"] is not None:
            query = {"limit": PAGE, **({"cursor": page["next_cursor"]} if page["next_cursor"] else {})}
            page = self._get("a2a/leases", query)
            leases += page["leases"]
        return leases

    def conversation(self, leased: LeasedTask, *, after: int | None = 0) -> list[dict[str, Any]]:
        """Return the messages of the task after the number ``after``, oldest first. The first made the task."""
        messages: list[dict[str, Any]] = []
        while after is not None:
            page = self._get(f"a2a/tasks/{leased.id}/messages", {"after": after, "limit": PAGE})
            messages += page["messages"]
            after = page["next_after"]
        return messages

    def heartbeat(self, leased: LeasedTask) -> int:
        """Send a heartbeat; return the number of messages of the task's sender."""
        answer = self._post(f"a2a/tasks/{leased.id}/heartbeat", {"lease_id": leased.lease_id})
        return int(answer.get("turn", leased.turn))

    def update(self, leased: LeasedTask, updates: Sequence[Mapping[str, Any]], attempt_id: UUID) -> int:
        """Post updates; return as `heartbeat` does. Repeating the call with the same ``attempt_id`` posts them once."""
        body = {"lease_id": leased.lease_id, "attempt_id": str(attempt_id), "updates": updates}
        return int(self._post(f"a2a/tasks/{leased.id}/updates", body).get("turn", leased.turn))

    def answer(self, leased: LeasedTask, answer: TaskResult) -> None:
        """Post the result under the lease. Repeating the call changes nothing."""
        self._post("a2a/results", answer.body(leased))

    def release(self, leased: LeasedTask, reason: str) -> None:
        """Hand the lease back. A repeat changes nothing."""
        self.release_lease(leased.id, leased.lease_id, reason)

    def release_lease(self, task_id: str, lease_id: str, reason: str) -> None:
        """Hand a lease of the agent back, also that of another worker. A repeat changes nothing."""
        self._post(f"a2a/tasks/{task_id}/release", {"lease_id": lease_id, "reason": reason[:500]})

    def post_pending(self) -> None:
        """Post the results that wait to be posted."""

    def stop_batches(self) -> None:
        """Let no result wait to be posted from now on."""

    def close(self) -> None:
        self._http.close()

    def _get(self, path: str, query: Mapping[str, Any]) -> Any:
        return self._send(lambda: self._http.get(path, params=query))

    def _post(self, path: str, body: Mapping[str, Any], *, timeout: float = ANSWER_WITHIN) -> Any:
        return self._send(lambda: self._http.post(path, json=body, timeout=timeout))

    def _send(self, request: Callable[[], httpx.Response]) -> Any:
        try:
            response = request()
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            raise NotNowError(f"cannot connect to the hub: {error}", may_have_arrived=False) from error
        except httpx.TransportError as error:
            raise NotNowError(f"no answer from the hub: {str(error) or type(error).__name__}") from error
        if not response.is_success:
            raise failure(response)
        try:
            return response.json()
        except ValueError as error:
            raise NotNowError("the answer is not JSON: check that the URL is a hub's") from error
