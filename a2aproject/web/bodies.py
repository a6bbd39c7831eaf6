"""Request bodies that the hub answered without reading them whole."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, UnreadablePostError
from django.http.response import HttpResponseBase

MOST = 16 * 1024 * 1024  # bytes to read; a client that sends more may miss the answer
CHUNK = 64 * 1024


class UnreadBodyMiddleware:
    """Reads and drops the rest of the body after an error answer.

    Otherwise the server closes a connection with unread bytes. A client that writes its whole body before it
    reads would get a broken pipe instead of the error.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if response.status_code >= 400:
            _read_out(request)
        return response


def _read_out(request: HttpRequest) -> None:
    left = MOST
    try:
        while left > 0 and (chunk := request.read(CHUNK)):
            left -= len(chunk)
    except UnreadablePostError:
        return  # the client is gone
