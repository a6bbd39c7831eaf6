"""The messages of a client: their envelope, the version of the protocol, and the headers that repeat a part of them.

The errors of MCP, and the JSON-RPC form of each of the hub's errors. Calls that wait look again at each change, and
tell their client meanwhile that they go on.

Source: JSON-RPC 2.0; MCP, "Streamable HTTP" of 2025-03-26, 2025-06-18, 2025-11-25 and 2026-07-28; "Error handling".
"""

import base64
import binascii
import re
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, ClassVar, TypeGuard, TypeVar

from django.conf import settings

from mailbox.access.callers import Caller
from mailbox.access.limits import waits
from mailbox.words import errors
from mailbox.words.errors import InvalidRequestError, MailboxError

OF_HUB = -32010  # an error of the hub that the protocol has no code for
OF_JSON, OF_PARAMS, OF_BUG = -32700, -32602, -32603

Json = dict[str, Any]
BY_HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")  # versions that ``initialize`` agrees on
BY_ENVELOPE = ("2026-07-28",)  # versions that each request names in its ``_meta``
VERSIONS = (*BY_HANDSHAKE, *BY_ENVELOPE)
ASSUMED = "2025-03-26"  # the version of a request that names none
WITH_BATCHES = ("2025-03-26",)
VERSION_HEADER, METHOD_HEADER, NAME_HEADER = "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"
META = "io.modelcontextprotocol/"
VERSION_KEY, CLIENT_KEY = f"{META}protocolVersion", f"{META}clientCapabilities"
_NAMED_BY = {"tools/call": "name", "resources/read": "uri"}  # the parameter that the name header repeats
_IN_BASE64 = re.compile(r"=\?base64\?(.*)\?=")
Headers = Mapping[str, str]
MessageId = str | int
Seen = TypeVar("Seen")
Returned = TypeVar("Returned")


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


@dataclass(frozen=True, slots=True, kw_only=True)
class McpMessage:
    """A message of a client. ``id`` None: a notification or an answer, which the hub accepts and does not answer."""

    id: MessageId | None
    method: str
    params: Mapping[str, Any]
    version: str

    @property
    def meta(self) -> Mapping[str, Any]:
        meta = self.params.get("_meta")
        return meta if isinstance(meta, dict) else {}

    @property
    def progress_token(self) -> MessageId | None:
        """The token under which the client takes notifications of progress; None if it takes none."""
        token = self.meta.get("progressToken")
        return token if is_message_id(token) else None


def is_message_id(value: object) -> TypeGuard[MessageId]:
    return isinstance(value, str) or type(value) is int


def id_of(body: object) -> MessageId | None:
    """Return the id under which an error of this message is answered; None without a valid one."""
    sent = body.get("id") if isinstance(body, dict) else None
    return sent if is_message_id(sent) else None


def named_version(headers: Headers) -> str | None:
    """Return the version that the header names, None without one. Raises `UnservedVersionError`."""
    named = headers.get(VERSION_HEADER)
    if named is not None and named not in VERSIONS:
        raise _unserved(named)
    return named


def read(body: object, headers: Headers) -> McpMessage:
    """Read one message.

    Raises `InvalidMessageError`, `UnservedVersionError`, and for versions of `BY_ENVELOPE` also `InvalidParamsError`
    and `HeaderMismatchError`. A request without the header of the version may leave out the other headers too. So a
    bridge can pass messages on as they are.
    """
    named = named_version(headers)
    if not isinstance(body, dict) or body.get("jsonrpc") != "2.0":
        raise InvalidMessageError('The body must be a JSON object with "jsonrpc": "2.0".')
    if "method" not in body and ("result" in body or "error" in body):
        return McpMessage(id=None, method="", params={}, version=named or ASSUMED)
    method, params = body.get("method"), body.get("params")
    if not isinstance(method, str):
        raise InvalidMessageError('"method" must be text.')
    if params is not None and not isinstance(params, dict):
        raise InvalidMessageError('"params" must be a JSON object.')
    if "id" not in body:
        return McpMessage(id=None, method=method, params=params or {}, version=named or ASSUMED)
    if not is_message_id(body["id"]):
        raise InvalidMessageError('"id" must be text or a whole number.')
    return McpMessage(
        id=body["id"], method=method, params=params or {}, version=_version_of(method, params or {}, named, headers)
    )


def _version_of(method: str, params: Mapping[str, Any], named: str | None, headers: Headers) -> str:
    meta = params.get("_meta")
    is_enveloped = isinstance(meta, dict) and VERSION_KEY in meta
    if not is_enveloped and named not in BY_ENVELOPE:
        return named or ASSUMED
    if not isinstance(meta, dict) or not {VERSION_KEY, CLIENT_KEY} <= meta.keys():
        raise InvalidParamsError(f"params._meta must have {VERSION_KEY} and {CLIENT_KEY}.")
    version = meta[VERSION_KEY]
    _check_headers(method, params, version, headers)
    if not isinstance(version, str):
        raise InvalidParamsError(f"{VERSION_KEY} must be text.")
    if version not in BY_ENVELOPE:
        raise _unserved(version)
    return version


def _check_headers(method: str, params: Mapping[str, Any], version: object, headers: Headers) -> None:
    """Raise `HeaderMismatchError` for a header that differs, or that is missing beside the header of the version."""
    wanted = {VERSION_HEADER: version, METHOD_HEADER: method}
    name = params.get(_NAMED_BY.get(method, ""))
    if isinstance(name, str):
        wanted[NAME_HEADER] = name
    for header, value in wanted.items():
        sent = headers.get(header)
        is_right = sent == value or (header == NAME_HEADER and sent is not None and _decoded(sent) == value)
        if not is_right and not (sent is None and VERSION_HEADER not in headers):
            raise HeaderMismatchError(f"The header {header} does not say what the message says.")


def _decoded(value: str) -> str | None:
    """Return the text of a header that may be in base64; None if its base64 is invalid."""
    if (wrapped := _IN_BASE64.fullmatch(value)) is None:
        return value
    try:
        return base64.b64decode(wrapped[1], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None


def _unserved(version: str) -> UnservedVersionError:
    shown = version[:50]
    return UnservedVersionError(
        f'The hub serves MCP {", ".join(VERSIONS)}, and not "{shown}".',
        data={"supported": list(VERSIONS), "requested": shown},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class McpCall:
    """A request of a caller. ``may_wait`` is false for a request of a batch."""

    caller: Caller
    message: McpMessage
    may_wait: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitProgress:
    """How long a call has waited, in seconds, how long it waits at most, and what it sees."""

    waited: float
    longest: float
    message: str


Waiting = Generator[WaitProgress, None, Returned]


def awaited(
    call: McpCall, topics: Sequence[str], look: Callable[[], Seen], wait_ms: int, sentence_of: Callable[[], str]
) -> Waiting[Seen]:
    """Call ``look``, and again at each ring of ``topics``, until it returns a true value; return its last value.

    Yield the progress when the value of ``sentence_of`` changes, and as a sign of life. A call without a result takes a
    seat as `waits.vigil` says; without a free seat of the process it does not wait. Raises as `waits.vigil` and
    `Vigil.look` do.
    """
    began, longest = time.monotonic(), waits.span(wait_ms).total_seconds()
    seen = look()
    if seen or not wait_ms or not call.may_wait:
        return seen
    with waits.vigil(call.caller, topics) as vigil:
        is_due, sentence = True, ""
        while vigil is not None and not vigil.is_over and (left := began + longest - time.monotonic()) > 0:
            if is_due and (seen := vigil.look(look)):
                return seen
            now = sentence_of() if is_due else sentence
            if now != sentence or not is_due:
                sentence = now
                yield WaitProgress(waited=time.monotonic() - began, longest=longest, message=sentence)
            is_due = vigil.wait(min(settings.A2A_KEEPALIVE_MS / 1000, left))
    return seen


def finished(steps: Waiting[Returned]) -> Returned:
    """Let a call wait to its end, and return what it returns."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            returned: Returned = end.value
            return returned
