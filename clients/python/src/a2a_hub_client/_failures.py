"""Turns answers of a hub that report a failure into errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

import msgspec

from a2a_hub_client import errors, refusals
from a2a_hub_client.errors import HubError, NotNowError, RateLimitedError, RefusedError, UnavailableError

_AT_FAULT = "kind", "code", "message", "fields"  # the keys of an error that are no ids


def _classes(base: type[HubError]) -> Iterator[type[HubError]]:
    for one in base.__subclasses__():
        if one.__module__ in (errors.__name__, refusals.__name__):
            yield one
            yield from _classes(one)


BY_CODE: Mapping[str, type[HubError]] = {one.code: one for one in _classes(HubError) if "code" in vars(one)}
_BY_STATUS: Mapping[int, type[RefusedError]] = {
    HTTPStatus.UNAUTHORIZED: refusals.UnauthenticatedError,
    HTTPStatus.FORBIDDEN: refusals.ForbiddenError,
    HTTPStatus.NOT_FOUND: refusals.NotFoundError,
    HTTPStatus.CONFLICT: refusals.ConflictError,
}
_NOT_DONE = {HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS}


def of_answer(status: int, reason: str, body: bytes, headers: Mapping[str, str]) -> HubError:
    """Return the error of an answer that is no success. Without the hub's JSON its message is the status line."""
    reported = _reported(body) or {"message": f"{status} {reason}".strip()}
    return _error(reported, status, retry_after=_seconds(headers.get("Retry-After", "")))


def of_item(refused: Mapping[str, Any]) -> HubError:
    """Return the error of a refused item of a batch."""
    return _error({name: value for name, value in refused.items() if name != "index"}, None)


def _error(reported: Mapping[str, Any], status: int | None, *, retry_after: float | None = None) -> HubError:
    code, message = str(reported.get("code", "")), str(reported["message"])
    details: dict[str, Any] = {
        "code": code,
        "status": status,
        "fields": fields if isinstance(fields := reported.get("fields"), dict) else None,
        "ids": {name: value for name, value in reported.items() if name not in _AT_FAULT},
    }
    made = BY_CODE.get(code) or _of_status(status)
    if issubclass(made, NotNowError):
        may_have_arrived = not issubclass(made, RateLimitedError) and status not in _NOT_DONE
        return made(message, may_have_arrived=may_have_arrived, retry_after=retry_after, **details)
    return made(message, **details)


def _of_status(status: int | None) -> type[HubError]:
    """Return the class of an error whose code is not known, as of a later hub or of a proxy."""
    if status is None:
        return RefusedError
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return RateLimitedError
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return UnavailableError
    if status in (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY):
        return NotNowError
    return _BY_STATUS.get(status, RefusedError)


def _reported(body: bytes) -> Mapping[str, Any] | None:
    try:
        found = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    return found if isinstance(found, dict) and isinstance(found.get("message"), str) else None


def _seconds(text: str) -> float | None:
    return float(text) if text.isdecimal() else None
