"""The messages of a client: their envelope, the version of the protocol, and the headers that repeat a part of them.

Source: JSON-RPC 2.0; MCP, "Streamable HTTP" of 2025-03-26, 2025-06-18, 2025-11-25 and 2026-07-28.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

from mailbox.dialects.mcp.errors import (
    HeaderMismatchError,
    InvalidMessageError,
    InvalidParamsError,
    UnservedVersionError,
)

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


@dataclass(frozen=True, slots=True, kw_only=True)
class McpMessage:
    """A message of a client. ``id`` None: a notification or an answer, which the hub accepts and does not answer."""

    id: MessageId | None
    method: str
    params: Mapping[str, Any]
    version: str

    @property
    def meta(self) -> Mapping[str, Any]:
        found = self.params.get("_meta")
        return found if isinstance(found, dict) else {}

    @property
    def progress_token(self) -> MessageId | None:
        """The token under which the client takes notifications of progress; None if it takes none."""
        token = self.meta.get("progressToken")
        return token if is_message_id(token) else None


def is_message_id(value: object) -> TypeGuard[MessageId]:
    return isinstance(value, str) or type(value) is int


def id_of(body: object) -> MessageId | None:
    """Return the id under which an error of this message is answered; None without a valid one."""
    found = body.get("id") if isinstance(body, dict) else None
    return found if is_message_id(found) else None


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
        found = headers.get(header)
        is_right = found == value or (header == NAME_HEADER and found is not None and _decoded(found) == value)
        if not is_right and not (found is None and VERSION_HEADER not in headers):
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
