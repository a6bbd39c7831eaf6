"""An agent's HTTP client: its own key, and retries while the hub does not answer."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

import httpx

WAIT_MS = 10_000  # the time one receive waits at the hub
PATIENCE = 30.0  # seconds of retries while the hub does not answer
PAUSE = 0.2
NEXT_TASK, NEXT_RESULT = "/a2a/tasks/next", "/a2a/results/next"


class RefusedError(Exception):
    """The hub refused the request. Programs decide by ``code``; the message is for people."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        super().__init__(message)


class UnreachableError(Exception):
    """The hub did not answer for longer than `PATIENCE`."""


class HubClient:
    """A client that repeats a request whose answer was lost. Each request acts only once.

    A task has an id that its sender chose. A receive has an attempt id, which stays until it has brought something. The
    hub accepts an identical result twice.
    """

    def __init__(self, url: str, key: str) -> None:
        headers = {"Authorization": f"Bearer {key}"}
        self._http = httpx.Client(base_url=url, headers=headers, timeout=WAIT_MS / 1000 + 10)
        self._attempt_ids = {path: str(uuid.uuid4()) for path in (NEXT_TASK, NEXT_RESULT)}

    @classmethod
    def from_environment(cls) -> Self:
        """Return the client for A2A_URL and A2A_API_KEY. A key on the command line would be visible to all users."""
        return cls(os.environ["A2A_URL"], os.environ["A2A_API_KEY"])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()

    def get(self, path: str, **query: object) -> dict[str, Any]:
        return self._ask("GET", path, params={name: str(value) for name, value in query.items()})

    def post(self, path: str, **body: object) -> dict[str, Any]:
        return self._ask("POST", path, json=body)

    def next_task(self) -> tuple[dict[str, Any], str] | None:
        """Wait for a task and lease it; return the task and the lease id, or None if no task came."""
        answer = self._receive(NEXT_TASK, "task")
        return None if answer["task"] is None else (answer["task"], answer["lease"]["lease_id"])

    def next_result(self, *, ack: str | None) -> dict[str, Any] | None:
        """Wait for a result; return it, or None. ``ack`` acknowledges the result of an earlier task."""
        result: dict[str, Any] | None = self._receive(NEXT_RESULT, "result", ack=ack)["result"]
        return result

    def _receive(self, path: str, what: str, **fields: object) -> dict[str, Any]:
        answer = self.post(path, wait_ms=WAIT_MS, attempt_id=self._attempt_ids[path], **fields)
        if answer[what] is not None or answer.get("attempt_spent"):
            self._attempt_ids[path] = str(uuid.uuid4())
        return answer

    def _ask(self, method: str, path: str, **request: Any) -> dict[str, Any]:
        give_up_at = time.monotonic() + PATIENCE
        while True:
            try:
                response = self._http.request(method, path, **request)
            except httpx.TransportError as error:
                trouble = str(error) or type(error).__name__
            else:
                if response.status_code not in (429, 503):
                    return _answer(response)
                trouble = f"status {response.status_code}"
            if time.monotonic() > give_up_at:
                raise UnreachableError(f"the hub does not answer: {trouble}")
            time.sleep(PAUSE)


def _answer(response: httpx.Response) -> dict[str, Any]:
    body: Mapping[str, Any] = response.json()
    if response.is_error:
        raise RefusedError(body["code"], body["message"])
    return dict(body)
