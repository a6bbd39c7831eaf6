"""The errors of a worker's requests to the hub."""

from __future__ import annotations

from http import HTTPStatus

import httpx

# The codes of an item of a batch. A single request reports them by its status.
LEASE_ENDED = {"unknown_task", "lease_mismatch", "not_in_flight", "already_resolved", "result_conflict"}
FORBIDDEN = {"capability_missing", "capability_scope_mismatch", "not_an_agent"}
NOT_NOW_CODES = {"unavailable", "rate_limited", "quota_exceeded"}
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


def failure(response: httpx.Response) -> HubError:
    """Return the error of a response that is no success."""
    code, message = _code_and_message(response)
    status = response.status_code
    if status in NOT_NOW or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        seconds = response.headers.get("Retry-After", "")
        return NotNowError(message, retry_after=float(seconds) if seconds.isdecimal() else None)
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return ForbiddenError(message)
    if (status == HTTPStatus.CONFLICT and code != "not_askable") or code == "unknown_task":
        return LeaseEndedError(message)
    return RefusedError(message)


def refusal(code: str, message: str) -> HubError:
    """Return the error of an item of a batch that was refused."""
    if code in LEASE_ENDED:
        return LeaseEndedError(message)
    if code in FORBIDDEN:
        return ForbiddenError(message)
    return NotNowError(message) if code in NOT_NOW_CODES else RefusedError(message)


def _code_and_message(response: httpx.Response) -> tuple[str, str]:
    """Return the code and message of an error. If it is not in the hub's format: "" and the status line."""
    try:
        error = response.json()
        return str(error["code"]), str(error["message"])
    except (ValueError, TypeError, KeyError):
        return "", f"{response.status_code} {response.reason_phrase}"
