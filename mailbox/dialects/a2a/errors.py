"""The errors of A2A 1.0, and the form of each of the hub's errors in JSON-RPC and in HTTP+JSON.

Source: A2A 1.0, "Error Handling"; google.rpc, Status, ErrorInfo, BadRequest.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from mailbox.dialects.base import http_errors
from mailbox.dialects.base.http_errors import STATUS, TRANSPORT_STATUS
from mailbox.words import errors
from mailbox.words.errors import InvalidRequestError, MailboxError, TaskConflictError

A2A, HUB = "a2a-protocol.org", "a2a-hub"  # the domains of reasons
OF_HTTP = -32000  # the JSON-RPC code of an error that HTTP itself reports; such an answer keeps its HTTP status
_ERROR_INFO = "type.googleapis.com/google.rpc.ErrorInfo"
_BAD_REQUEST = "type.googleapis.com/google.rpc.BadRequest"
_GOOGLE: Mapping[HTTPStatus, str] = {
    HTTPStatus.BAD_REQUEST: "INVALID_ARGUMENT",
    HTTPStatus.UNAUTHORIZED: "UNAUTHENTICATED",
    HTTPStatus.FORBIDDEN: "PERMISSION_DENIED",
    HTTPStatus.NOT_FOUND: "NOT_FOUND",
    HTTPStatus.METHOD_NOT_ALLOWED: "INVALID_ARGUMENT",
    HTTPStatus.CONFLICT: "ABORTED",
    HTTPStatus.LENGTH_REQUIRED: "INVALID_ARGUMENT",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "INVALID_ARGUMENT",
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: "INVALID_ARGUMENT",
    HTTPStatus.TOO_MANY_REQUESTS: "RESOURCE_EXHAUSTED",
    HTTPStatus.SERVICE_UNAVAILABLE: "UNAVAILABLE",
}
_PRECONDITION = (HTTPStatus.BAD_REQUEST, "FAILED_PRECONDITION")
_ARGUMENT = (HTTPStatus.BAD_REQUEST, "INVALID_ARGUMENT")


class TaskNotCancelableError(MailboxError):
    """The task has ended, so that it cannot be cancelled."""

    code = "task_not_cancelable"


class PushNotificationNotSupportedError(MailboxError):
    """The agent does not offer push notifications."""

    code = "push_notification_not_supported"


class UnsupportedOperationError(MailboxError):
    """The agent does not offer this operation, or the task does not permit it any more."""

    code = "unsupported_operation"


class ContentTypeNotSupportedError(MailboxError):
    """The agent does not accept the media type of a part."""

    code = "content_type_not_supported"


class ExtensionSupportRequiredError(MailboxError):
    """The agent requires an extension that the request does not name in A2A-Extensions."""

    code = "extension_support_required"


class VersionNotSupportedError(MailboxError):
    """The hub does not serve this version of the protocol here. Send A2A-Version: 1.0."""

    code = "version_not_supported"


class UnknownRpcMethodError(MailboxError):
    """The protocol has no such method."""

    code = "method_not_found"


class InvalidEnvelopeError(MailboxError):
    """The body is no request of JSON-RPC 2.0."""

    code = "invalid_envelope"


class GenerationMismatchError(MailboxError):
    """The task has changed since the generation that the request names. Read it, and send the message again."""

    code = "task_generation_mismatch"


class NoFreeSeatError(MailboxError):
    """The hub has no thread free for a stream. Nothing was changed, so repeat the request."""

    code = "no_free_seat"


@dataclass(frozen=True, slots=True)
class ErrorRow:
    """An error in both bindings: its JSON-RPC code, its HTTP status in HTTP+JSON, and google.rpc's words."""

    code: int
    http: HTTPStatus
    status: str
    reason: str
    domain: str = A2A


_UNSUPPORTED = ErrorRow(-32004, *_PRECONDITION, "UNSUPPORTED_OPERATION")
_CONTENT_TYPE = ErrorRow(-32005, *_ARGUMENT, "CONTENT_TYPE_NOT_SUPPORTED")
_INVALID_PARAMS = ErrorRow(-32602, *_ARGUMENT, "INVALID_PARAMS")
_NO_METHOD = ErrorRow(-32601, HTTPStatus.NOT_FOUND, "NOT_FOUND", "METHOD_NOT_FOUND")
_INTERNAL = ErrorRow(-32603, HTTPStatus.INTERNAL_SERVER_ERROR, "INTERNAL", "INTERNAL_ERROR")


def _of_http(error: type[MailboxError], http: HTTPStatus) -> ErrorRow:
    return ErrorRow(OF_HTTP, http, _GOOGLE[http], error.code.upper(), HUB)


ROWS: Mapping[type[MailboxError], ErrorRow] = {
    **{error: _of_http(error, http) for error, http in {**STATUS, **TRANSPORT_STATUS}.items()},
    MailboxError: _of_http(MailboxError, HTTPStatus.BAD_REQUEST),
    NoFreeSeatError: _of_http(NoFreeSeatError, HTTPStatus.SERVICE_UNAVAILABLE),
    errors.WaitTimeoutError: _of_http(errors.WaitTimeoutError, HTTPStatus.SERVICE_UNAVAILABLE),
    errors.UnknownAgentError: ErrorRow(OF_HTTP, HTTPStatus.NOT_FOUND, "NOT_FOUND", "AGENT_NOT_FOUND", HUB),
    errors.UnknownTaskError: ErrorRow(-32001, HTTPStatus.NOT_FOUND, "NOT_FOUND", "TASK_NOT_FOUND"),
    TaskNotCancelableError: ErrorRow(-32002, *_PRECONDITION, "TASK_NOT_CANCELABLE"),
    PushNotificationNotSupportedError: ErrorRow(-32003, *_PRECONDITION, "PUSH_NOTIFICATION_NOT_SUPPORTED"),
    UnsupportedOperationError: _UNSUPPORTED,
    errors.AlreadyResolvedError: _UNSUPPORTED,
    errors.NotAskableError: _UNSUPPORTED,
    ContentTypeNotSupportedError: _CONTENT_TYPE,
    http_errors.UnsupportedMediaTypeError: _CONTENT_TYPE,
    GenerationMismatchError: ErrorRow(-32010, HTTPStatus.CONFLICT, "ABORTED", "TASK_GENERATION_MISMATCH"),
    ExtensionSupportRequiredError: ErrorRow(-32008, *_PRECONDITION, "EXTENSION_SUPPORT_REQUIRED"),
    VersionNotSupportedError: ErrorRow(-32009, *_PRECONDITION, "VERSION_NOT_SUPPORTED"),
    errors.InvalidJsonError: ErrorRow(-32700, *_ARGUMENT, "INVALID_REQUEST"),
    InvalidEnvelopeError: ErrorRow(-32600, *_ARGUMENT, "INVALID_REQUEST"),
    UnknownRpcMethodError: _NO_METHOD,
    http_errors.PathNotFoundError: _NO_METHOD,
    InvalidRequestError: _INVALID_PARAMS,
    TaskConflictError: _INVALID_PARAMS,
}


def row_of(error: Exception) -> ErrorRow:
    """Return the row of an error. An error that is none of the hub's is a bug, and its row is the internal error's.

    A task that an earlier version compacted is an unsupported operation, since its repeat cannot be compared.
    """
    if isinstance(error, TaskConflictError) and error.is_forgotten:
        return _UNSUPPORTED
    return next((ROWS[kind] for kind in type(error).__mro__ if kind in ROWS), _INTERNAL)


def table() -> str:
    """Return the errors of the protocol as a table in Markdown, each under its own class rather than another's."""
    rows: dict[tuple[str, int], tuple[ErrorRow, str]] = {}
    for kind, row in sorted(ROWS.items(), key=lambda pair: pair[0].__module__ != __name__):
        if row.domain == A2A:
            rows.setdefault((row.reason, row.code), (row, " ".join((kind.__doc__ or "").split())))
    lines = [
        f"| `{row.reason}` | {row.code} | {row.http.value} | `{row.status}` | {meaning} |\n"
        for _, (row, meaning) in sorted(rows.items())
    ]
    return "".join(["| Reason | JSON-RPC | HTTP | Status | Meaning |\n|---|---|---|---|---|\n", *lines])


def http_status(error: Exception, *, is_rpc: bool) -> HTTPStatus:
    """Return the HTTP status of an error in JSON-RPC or in HTTP+JSON. JSON-RPC answers its own errors with 200."""
    row = row_of(error)
    return HTTPStatus.OK if is_rpc and row.code != OF_HTTP else row.http


def rpc_error(error: Exception) -> dict[str, Any]:
    """Return the ``error`` member of a JSON-RPC answer."""
    row = row_of(error)
    return {"code": row.code, "message": _message(error), "data": _details(error, row)}


def rest_error(error: Exception) -> dict[str, Any]:
    """Return the body of an error in HTTP+JSON."""
    row = row_of(error)
    details = _details(error, row)
    return {"error": {"code": row.http.value, "status": row.status, "message": _message(error), "details": details}}


def _message(error: Exception) -> str:
    if isinstance(error, InvalidRequestError):
        return "; ".join(f"{_camel(path)}: {problem}" for path, problem in error.fields.items())
    return errors.text_for_program(error) if isinstance(error, MailboxError) else "An internal error occurred."


def _details(error: Exception, row: ErrorRow) -> list[dict[str, Any]]:
    ids = error.ids if isinstance(error, MailboxError) else {}
    metadata = {_camel(name): value for name, value in ids.items() if value is not None}
    details: list[dict[str, Any]] = [
        {"@type": _ERROR_INFO, "reason": row.reason, "domain": row.domain, "metadata": metadata}
    ]
    if isinstance(error, InvalidRequestError):
        violations = [{"field": _camel(path), "description": problem} for path, problem in error.fields.items()]
        details.append({"@type": _BAD_REQUEST, "fieldViolations": violations})
    return details


def _camel(path: str) -> str:
    return re.sub(r"_([a-z0-9])", lambda match: match[1].upper(), path)
