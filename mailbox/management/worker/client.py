"""The hub's API as a worker uses it: five requests, and their errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from uuid import UUID

import httpx
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from mailbox.words import signatures

ANSWER_WITHIN = 10.0  # seconds, beside the wait of a long poll
POSTED_WITHIN = 1.0  # seconds by which programs are stopped before the hub's limit, so that their messages still count
NOT_NOW = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS}


class HubError(Exception):
    """A request to the hub failed."""


class NotNowError(HubError):
    """The hub did not answer, or its answer may change when the request is repeated."""

    def __init__(self, message: str, *, may_have_arrived: bool = True, retry_after: float | None = None) -> None:
        """``may_have_arrived`` False: the request was not sent. ``retry_after``: the hub's Retry-After, in seconds."""
        super().__init__(message)
        self.may_have_arrived = may_have_arrived
        self.retry_after = retry_after


class RefusedError(HubError):
    """The hub refused the request, and would refuse it again."""


class ForbiddenError(RefusedError):
    """The API key is invalid or lacks a capability. An operator can change that."""


class LeaseEndedError(RefusedError):
    """The lease is no longer live: the task was answered, requeued, cancelled or expired."""


class AttemptSpentError(HubError):
    """The receive's attempt id took a task before, and its lease has ended. It takes no other task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeasedTask:
    """A task as the hub's JSON shows it, and its lease. ``time_limit``: seconds for the work, None without a limit."""

    task: Mapping[str, Any]
    lease_id: str
    attempt: int
    time_limit: float | None

    @property
    def id(self) -> str:
        return str(self.task["id"])

    def is_for(self, name: str) -> bool:
        """Whether ``name`` is the recipient's display, local part or public key."""
        display = self.task["recipient"]["display"]
        return name in (display, display.partition("@")[0], self.task["recipient"]["pubkey"])


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramResult:
    """The result of a task: ``error_message`` if it failed, else ``text``, None without any."""

    text: str | None = None
    error_message: str | None = None


class Hub:
    """A client of the hub with one agent's API key, or with its private key. Threads may share it.

    Every method raises `NotNowError` or `RefusedError` on failure. Methods that take a lease also raise
    `LeaseEndedError`.
    """

    def __init__(self, url: str, key: Callable[[], str] | Ed25519PrivateKey) -> None:
        """``key`` returns the agent's API key, and is called for each request. A private key signs each request.

        The ``url`` of signed requests is the hub's public URL.
        """

        def authorize(request: httpx.Request) -> httpx.Request:
            if callable(key):
                request.headers["Authorization"] = f"Bearer {key()}"
            else:
                method, body = request.method, request.content
                request.headers.update(signatures.sign(key, method=method, url=str(request.url), body=body))
            return request

        self.url = url
        self._http = httpx.Client(
            base_url=url,
            auth=authorize,
            timeout=ANSWER_WITHIN,
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=20),
        )

    def lease(self, attempt_id: UUID, *, wait: float) -> LeasedTask | None:
        """Lease the oldest task, waiting up to ``wait`` seconds; None without one. A repeat gets the same lease.

        Also raises `AttemptSpentError`.
        """
        body = {"attempt_id": str(attempt_id), "wait_ms": int(wait * 1000)}
        answer = self._post("a2a/tasks/next", body, timeout=wait + ANSWER_WITHIN)
        if (task := answer["task"]) is None:
            if answer.get("attempt_spent"):
                raise AttemptSpentError("the leases of this attempt id have ended")
            return None
        lease = answer["lease"]
        limit = lease["work_timeout_ms"]
        return LeasedTask(
            task=task,
            lease_id=lease["lease_id"],
            attempt=lease["attempt"],
            time_limit=None if limit is None else limit / 1000 - min(POSTED_WITHIN, limit / 10_000),
        )

    def heartbeat(self, leased: LeasedTask) -> None:
        self._post(f"a2a/tasks/{leased.id}/heartbeat", {"lease_id": leased.lease_id})

    def say(self, leased: LeasedTask, messages: Sequence[str], attempt_id: UUID) -> None:
        """Post messages, each as a text block. Repeating the call with the same ``attempt_id`` posts them once."""
        updates = [{"message": [{"type": "text", "text": message}]} for message in messages]
        body = {"lease_id": leased.lease_id, "attempt_id": str(attempt_id), "updates": updates}
        self._post(f"a2a/tasks/{leased.id}/updates", body)

    def answer(self, leased: LeasedTask, answer: ProgramResult) -> None:
        """Post the result under the lease. Repeating the call changes nothing."""
        body: dict[str, Any] = {"task_id": leased.id, "lease_id": leased.lease_id, "status": "ok", "content": []}
        if answer.text is not None:
            body["content"] = [{"type": "text", "text": answer.text}]
        if answer.error_message is not None:
            body |= {"status": "error", "error_message": answer.error_message}
        self._post("a2a/results", body)

    def release(self, leased: LeasedTask, reason: str) -> None:
        self._post(f"a2a/tasks/{leased.id}/release", {"lease_id": leased.lease_id, "reason": reason[:500]})

    def close(self) -> None:
        self._http.close()

    def _post(self, path: str, body: Mapping[str, Any], *, timeout: float = ANSWER_WITHIN) -> Any:
        try:
            response = self._http.post(path, json=body, timeout=timeout)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            raise NotNowError(f"cannot connect to the hub: {error}", may_have_arrived=False) from error
        except httpx.TransportError as error:
            raise NotNowError(f"no answer from the hub: {str(error) or type(error).__name__}") from error
        if not response.is_success:
            raise _failure(response)
        try:
            return response.json()
        except ValueError as error:
            raise NotNowError("the answer is not JSON: check that the URL is a hub's") from error


def _failure(response: httpx.Response) -> HubError:
    code, message = _code_and_message(response)
    status = response.status_code
    if status in NOT_NOW or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        seconds = response.headers.get("Retry-After", "")
        return NotNowError(message, retry_after=float(seconds) if seconds.isdecimal() else None)
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return ForbiddenError(message)
    if status == HTTPStatus.CONFLICT or code == "unknown_task":
        return LeaseEndedError(message)
    return RefusedError(message)


def _code_and_message(response: httpx.Response) -> tuple[str, str]:
    """Return the code and message of an error. If it is not in the hub's format: "" and the status line."""
    try:
        error = response.json()
        return str(error["code"]), str(error["message"])
    except (ValueError, TypeError, KeyError):
        return "", f"{response.status_code} {response.reason_phrase}"
