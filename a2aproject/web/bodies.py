"""Request bodies that an answer does without."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, UnreadablePostError
from django.http.response import HttpResponseBase

MOST = 16 * 1024 * 1024  # bytes read for the sake of the answer; who sends more may miss it
CHUNK = 64 * 1024


class UnreadBodyMiddleware:
    """Reads the rest of a body that was refused, and throws it away.

    The server closes a connection on which bytes are still to come; a client that writes all before it
    reads then meets a broken pipe instead of the refusal that explains it.
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
        return  # nobody is left to answer
