"""The errors of MCP, and the JSON-RPC form of each of the hub's errors.

Source: JSON-RPC 2.0; MCP 2026-07-28, "Error handling".
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, ClassVar

from mailbox.words import errors
from mailbox.words.errors import InvalidRequestError, MailboxError

OF_HUB = -32010  # an error of the hub that the protocol has no code for
OF_JSON, OF_PARAMS, OF_BUG = -32700, -32602, -32603

Json = dict[str, Any]


class McpError(MailboxError):
    """An error that the protocol itself has a code for.

    ``status`` is the HTTP status of its answer, unless a client of an older version gets it under its request's id.
    """

    rpc_code: ClassVar[int] = OF_BUG
    status: ClassVar[HTTPStatus] = HTTPStatus.BAD_REQUEST

    def __init__(self, message: str | None = None, *, data: Mapping[str, Any] | None = None) -> None:
        self.data = data
        super().__init__(message)


class InvalidMessageError(McpError):
    """The body is no message of JSON-RPC 2.0."""

    code = "invalid_message"
    rpc_code = -32600


class UnknownMethodError(McpError):
    """The protocol has no such method, or the hub does not offer it."""

    code = "method_not_found"
    rpc_code = -32601
    status = HTTPStatus.NOT_FOUND


class InvalidParamsError(McpError):
    """The parameters are invalid."""

    code = "invalid_params"
    rpc_code = OF_PARAMS


class UnknownResourceError(McpError):
    """No such resource is known to this caller."""

    code = "unknown_resource"
    rpc_code = OF_PARAMS


class HeaderMismatchError(McpError):
    """A header and the message differ, or a header is missing."""

    code = "header_mismatch"
    rpc_code = -32020


class UnservedVersionError(McpError):
    """The hub does not serve this version of the protocol."""

    code = "unsupported_protocol_version"
    rpc_code = -32022


class ForeignOriginError(MailboxError):
    """Pages of this origin may not call the hub. A2A_CORS_ORIGINS lists the origins that may."""

    code = "foreign_origin"


def rpc_error(error: Exception) -> Json:
    """Return the ``error`` member of a JSON-RPC answer. An error that is none of the hub's is a bug."""
    match error:
        case McpError():
            data = {} if error.data is None else {"data": dict(error.data)}
            return {"code": error.rpc_code, "message": error.message, **data}
        case errors.InvalidJsonError():
            return {"code": OF_JSON, "message": error.message}
        case InvalidRequestError():
            return {"code": OF_PARAMS, "message": error.message, "data": details(error)}
        case MailboxError():
            return {"code": OF_HUB, "message": errors.text_for_program(error), "data": details(error)}
    return {"code": OF_BUG, "message": "An internal error occurred."}


def details(error: MailboxError) -> Json:
    """Return the hub's code of an error, with the ids and the fields that it concerns."""
    fields = {"fields": error.fields} if isinstance(error, InvalidRequestError) else {}
    return {"code": error.code, **error.ids, **fields}
