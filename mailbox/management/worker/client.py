"""The hub as a worker sees it: five requests, and what it means when they are not granted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from uuid import UUID

import httpx

ANSWER_WITHIN = 10.0  # seconds, beside what a long poll asks for
TOLD_WITHIN = 1.0  # seconds before the hub's own limit at which work ends, so that what it said still counts
NOT_NOW = {HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS}


class HubError(Exception):
    """The hub did not do what it was asked."""


class NotNowError(HubError):
    """No answer, or one that may be another next time."""

    def __init__(self, message: str, *, may_have_arrived: bool = True, retry_after: float | None = None) -> None:
        """``may_have_arrived`` False: the request never left. ``retry_after``: seconds the hub asks to wait."""
        super().__init__(message)
        self.may_have_arrived = may_have_arrived
        self.retry_after = retry_after


class RefusedError(HubError):
    """The hub will not do this, however often it is asked."""


class ForbiddenError(RefusedError):
    """The key is not accepted or lacks a capability, which an operator can change."""


class LeaseEndedError(RefusedError):
    """The lease is no longer live: the task was answered, requeued, cancelled or expired by someone else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeasedTask:
    """An A2ATask as the wire spells it, under a lease. ``time_limit``: seconds the work may last, None for ever."""

    task: Mapping[str, Any]
    lease_id: str
    attempt: int
    time_limit: float | None

    @property
    def id(self) -> str:
        return str(self.task["id"])

    def is_for(self, name: str) -> bool:
        """Whether ``name`` is its recipient, by display, bare local part or public key."""
        display = self.task["recipient"]["display"]
        return name in (display, display.partition("@")[0], self.task["recipient"]["pubkey"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """How a task ends: ``text`` of an ok one, None without any; ``error_message`` of a failed one."""

    text: str | None = None
    error_message: str | None = None


class Hub:
    """A connection to the hub with one agent's key; safe to use from many threads.

    Every request raises `NotNowError` or `RefusedError`; those that name a lease raise `LeaseEndedError` too.
    """

    def __init__(self, url: str, key: str) -> None:
        self.url = url
        self._http = httpx.Client(
            base_url=url,
            headers={"Authorization": f"Bearer {key}"},
            timeout=ANSWER_WITHIN,
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=20),
        )

    def lease(self, attempt_id: UUID, *, wait: float) -> LeasedTask | None:
        """Lease the oldest task, waiting for one up to ``wait`` seconds; the same id gets the same lease."""
        body = {"attempt_id": str(attempt_id), "wait_ms": int(wait * 1000)}
        answer = self._post("a2a/tasks/next", body, timeout=wait + ANSWER_WITHIN)
        if (task := answer["task"]) is None:
            return None
        lease = answer["lease"]
        limit = lease["work_timeout_ms"]
        return LeasedTask(
            task=task,
            lease_id=lease["lease_id"],
            attempt=lease["attempt"],
            time_limit=None if limit is None else limit / 1000 - min(TOLD_WITHIN, limit / 10_000),
        )

    def heartbeat(self, leased: LeasedTask) -> None:
        self._post(f"a2a/tasks/{leased.id}/heartbeat", {"lease_id": leased.lease_id})

    def say(self, leased: LeasedTask, messages: Sequence[str], attempt_id: UUID) -> None:
        """Post messages, each a text block of its own; the same id with the same messages posts them once."""
        updates = [{"message": [{"type": "text", "text": message}]} for message in messages]
        body = {"lease_id": leased.lease_id, "attempt_id": str(attempt_id), "updates": updates}
        self._post(f"a2a/tasks/{leased.id}/updates", body)

    def answer(self, leased: LeasedTask, answer: Answer) -> None:
        """Post the result, fenced by the lease. Repeating it is harmless."""
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
            raise NotNowError("the answer is not JSON: is this the URL of a hub?") from error


def _failure(response: httpx.Response) -> HubError:
    code, message = _told(response)
    status = response.status_code
    if status in NOT_NOW or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        seconds = response.headers.get("Retry-After", "")
        return NotNowError(message, retry_after=float(seconds) if seconds.isdecimal() else None)
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return ForbiddenError(message)
    if status == HTTPStatus.CONFLICT or code == "unknown_task":
        return LeaseEndedError(message)
    return RefusedError(message)


def _told(response: httpx.Response) -> tuple[str, str]:
    """Return the code and message of an error; of one that no hub wrote, its status line."""
    plain = f"{response.status_code} {response.reason_phrase}"
    try:
        told = response.json()
        return str(told["code"]), str(told["message"])
    except (ValueError, TypeError, KeyError):
        return "", plain
