"""The web process's own handler of requests, which also shares the interpreter among the threads.

A thread that wants the interpreter wakes once in each switch interval and requests it. If hundreds of threads do so
every half millisecond, the wake-ups alone use up the processors, and no thread gets on. That happens when the waits of
a crowd begin or end together. So the interval grows with the requests under way.
"""

import sys
import threading
from collections.abc import Iterable, Mapping
from functools import cached_property, lru_cache
from typing import Any

from django.core.cache import close_caches
from django.core.handlers.base import reset_urlconf
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, connection, reset_queries
from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.request import HttpHeaders
from django.http.response import HttpResponseBase
from django.urls import ResolverMatch
from django.utils.datastructures import CaseInsensitiveMapping

from mailbox.dialects.base import bodies

# A thread that comes back from the database waits until another thread gives up the interpreter. Python's 5 ms are
# longer than most transactions, and SQLite's write lock is held meanwhile.
SHORTEST, LONGEST = 0.0005, 0.005  # seconds
FEW = 4  # requests under way, for which the shortest interval is the best

_answering: set[int] = set()  # the threads of the requests under way; no thread interrupts a change of a set
MOST_KEPT = 2048  # paths
MOST_NAMES = 256  # of headers; a signature may name any


def begin_request() -> None:
    """Count the thread, which begins to answer a request."""
    _answering.add(threading.get_ident())
    _adapt()


def end_request() -> None:
    """Count the thread no more."""
    _answering.discard(threading.get_ident())
    _adapt()


def _adapt() -> None:
    sys.setswitchinterval(min(max(SHORTEST, SHORTEST * len(_answering) / FEW), LONGEST))


class Headers(CaseInsensitiveMapping):  # type: ignore[type-arg]
    """The headers in a request's META. Django would copy them all at the first look-up."""

    def __init__(self, meta: Mapping[str, Any]) -> None:
        self._meta = meta

    def __getitem__(self, name: str) -> Any:
        return self._meta[_key(name)]

    def get(self, name: str, default: Any = None) -> Any:
        return self._meta.get(_key(name), default)

    def __contains__(self, name: object) -> bool:
        return _key(str(name)) in self._meta

    @cached_property
    def _store(self) -> dict[str, tuple[str, Any]]:  # type: ignore[override]
        return HttpHeaders(self._meta)._store


@lru_cache(MOST_NAMES)
def _key(name: str) -> str:
    """Return the key of a header in META."""
    key = name.replace("-", "_").upper()
    return key if key in HttpHeaders.UNPREFIXED_HEADERS else f"{HttpHeaders.HTTP_PREFIX}{key}"


class WebRequest(WSGIRequest):
    """Django's request, with headers that are looked up one by one."""

    @cached_property
    def headers(self) -> Headers:  # type: ignore[override]
        return Headers(self.META)


def without_idle_receivers() -> None:
    """Disconnect what Django does at the ends of each request for nothing.

    The end of each request looks after its connection, so the begin of the next one need not. The hub keeps no
    connection to a cache, and no log of queries. Each request sets the routes that it uses.
    """
    request_started.disconnect(close_old_connections)
    request_started.disconnect(reset_queries)
    request_finished.disconnect(close_caches)
    request_finished.disconnect(reset_urlconf)


def _sent(response: HttpResponseBase, environ: Mapping[str, Any]) -> Iterable[bytes]:
    """Return what the web server sends: a large answer in pieces. Its request ends before, and frees all but bytes.

    A file is read whole: in its own blocks, it would hold a thread for each client that does not read.
    """
    if not isinstance(response, HttpResponse | FileResponse):
        return bodies.Begun(bodies.chunks(response, environ), response)
    content = response.getvalue()
    if len(content) <= bodies.LARGE and not response.streaming:
        return response
    response.close()
    if not connection.in_atomic_block:
        connection.close()
    return [content] if len(content) <= bodies.LARGE else bodies.large_answers.in_pieces(content, environ)


class Handler(WSGIHandler):
    """Django's handler, except that it remembers the views of the last paths.

    Django would try the patterns of all routes again for each request. The threads of requests share the interpreter.
    """

    request_class = WebRequest

    def __init__(self) -> None:
        super().__init__()
        self._kept: dict[str, ResolverMatch] = {}

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
        begin_request()
        try:
            return _sent(super().__call__(environ, start_response), environ)
        finally:
            end_request()

    def resolve_request(self, request: HttpRequest) -> ResolverMatch:
        match = self._kept.get(request.path_info)
        if match is None:
            match = super().resolve_request(request)
            if len(self._kept) >= MOST_KEPT:
                self._kept = {}
            self._kept[request.path_info] = match
        request.resolver_match = match
        return match
