"""The body of a request: its length, its type and its bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, UnreadablePostError

from mailbox.dialects.base.transport import (
    STALLED_ANSWER,
    BodyTooLargeError,
    LengthRequiredError,
    StalledBodyError,
    UnsupportedMediaTypeError,
)
from mailbox.words import json_text


def json_of(request: HttpRequest, stalled: Callable[[], HttpResponse], *, items: str | None = None) -> Any:
    """Return the request's JSON body of any type; an absent body reads as ``{}``.

    ``items`` names the items of a batch, as in `json_text.loads`. Raises `InvalidJsonError`,
    `UnsupportedMediaTypeError` and the errors of `bytes_of`.
    """
    if _length_of(request) == 0:
        return {}
    headers = request.headers
    media_type = headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if media_type != "application/json" or headers.get("Content-Encoding", "identity").lower() != "identity":
        raise UnsupportedMediaTypeError
    return json_text.loads(bytes_of(request, stalled), items=items)


def bytes_of(request: HttpRequest, stalled: Callable[[], HttpResponse]) -> bytes:
    """Return the bytes of the body, b"" without one.

    If the body does not arrive in time, another thread calls ``stalled`` for the answer to the request. Raises
    `LengthRequiredError`, `BodyTooLargeError`, `StalledBodyError`.
    """
    if _length_of(request) == 0:
        return b""
    request.META[STALLED_ANSWER] = stalled
    try:
        return request.body
    except UnreadablePostError as error:
        raise StalledBodyError from error
    finally:
        del request.META[STALLED_ANSWER]


def _length_of(request: HttpRequest) -> int:
    headers = request.headers
    if "chunked" in headers.get("Transfer-Encoding", "").lower():
        raise LengthRequiredError
    digits = headers.get("Content-Length") or "0"
    if not (digits.isascii() and digits.isdigit()):
        raise LengthRequiredError
    length = int(digits)
    if length > settings.A2A_MAX_BODY_BYTES:
        raise BodyTooLargeError(f"the body is {length} bytes; this hub accepts {settings.A2A_MAX_BODY_BYTES}")
    return length
