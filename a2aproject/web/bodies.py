"""Request bodies. A web thread waits for one within limits, and reads out the rest of it after an error answer."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.db import connection
from django.http import HttpRequest, HttpResponse, HttpResponseBase, UnreadablePostError

from a2aproject.serving import connections
from mailbox.access.limits.rates import network_of
from mailbox.database import waiting
from mailbox.dialects.base.http_errors import STALLED_ANSWER, StalledBodyError

MOST = 16 * 1024 * 1024  # bytes to read; a client that sends more may miss the answer
CHUNK = 64 * 1024
SHARE = 4  # one thread of so many may wait for a body
MOST_PER_ADDRESS = 32  # threads of a process that wait for bodies from one address, or from one network of IPv6
PAUSE = 1.0  # seconds between two looks for late bodies

# Seconds that a body may wait even if there are too many. A thread waits until it has the interpreter again after the
# read. That takes milliseconds for a body that came with its headers, and round trips for a body of many packets.
GRACE = 0.25
HASTE = 0.05  # the same while bodies hold most threads; a cut connection holds its thread as long

_logger = logging.getLogger(__name__)
Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


class UnreadBodyMiddleware:
    """Reads and drops the rest of the body after an error answer.

    Otherwise the server closes a connection with unread bytes. A client that writes its whole body before it
    reads would get a broken pipe instead of the error.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if getattr(request.META["wsgi.input"], "is_cut", False):
            is_answered = response.status_code == HTTPStatus.SERVICE_UNAVAILABLE
            return response if is_answered else _plain_answer()  # and not a page without a part of its form
        if response.status_code >= 400:
            request.META[STALLED_ANSWER] = lambda: response
            _read_out(request)
        return response


def _read_out(request: HttpRequest) -> None:
    left = MOST
    try:
        while left > 0 and (chunk := request.read(CHUNK)):
            left -= len(chunk)
    except UnreadablePostError:
        return  # the client is gone, or its body did not arrive in time


class StalledBody(OSError):  # noqa: N818 (Django reports an OSError as an unreadable body)
    """The hub has cut the body."""


class Body:
    """The input of a request. Its reads raise `StalledBody` once `Waits` has cut it."""

    def __init__(self, environ: dict[str, Any], waits: Waits) -> None:
        self.network = ""
        self.began = 0.0
        self.due = 0.0
        self.is_cut = False
        self._environ = environ
        self._input = environ["wsgi.input"]
        self._waits = waits

    def read(self, size: int) -> bytes:
        return self._wait_for(self._input.read, size)

    def readline(self, size: int) -> bytes:
        return self._wait_for(self._input.readline, size)

    def can_be_cut(self) -> bool:
        """Whether `cut` interrupts a read of this body."""
        return connections.can_cut(self._environ)

    def cut(self) -> None:
        """Answer the request with the view's 503, or a plain one, and interrupt the read."""
        answer = self._environ.get(STALLED_ANSWER, _plain_answer)()
        headers = [(name, value) for name, value in answer.items() if name != "Content-Length"]
        connections.cut(self._environ, answer.status_code, headers, getattr(answer, "content", b""))

    def _wait_for(self, read: Callable[[int], bytes], size: int) -> bytes:
        if not self.due:
            self.network = network_of(self._environ.get("REMOTE_ADDR", ""))
            self.began = self._waits.clock()
            self.due = self.began + settings.A2A_BODY_TIMEOUT_S
        self._waits.begin(self)
        if len(self._waits) > self._waits.most_with_connection:
            _release_connection()
        try:
            return read(size)
        finally:
            self._waits.end(self)


class Waits:
    """The bodies that threads of this process wait for: at most ``most``, and ``most_per_address`` from one address.

    One more body is in excess, and the body that has waited longest is cut. If the address waits for too many bodies,
    it is one of these, and otherwise a body of the address that waits for most. So a client with many slow bodies shuts
    out itself.

    No body is cut for an excess before it has waited for `GRACE`. While there are more than ``most_briefly`` bodies,
    `HASTE` holds instead. ``clock`` returns seconds.
    """

    def __init__(
        self,
        *,
        most: Callable[[], int],
        most_briefly: Callable[[], int],
        most_per_address: int = MOST_PER_ADDRESS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        # The threads of a process share its database connections. Without slow bodies none is given back for nothing.
        self.most_with_connection = _connections() // SHARE
        self.clock = clock
        self._most = most
        self._most_briefly = most_briefly
        self._most_per_address = most_per_address
        self._lock = threading.Lock()
        self._by_network: dict[str, dict[Body, None]] = {}
        self._count = 0
        self._has_excess = threading.Event()

    def __len__(self) -> int:
        return self._count

    def begin(self, body: Body) -> None:
        """Count the body as waited for. This may cut another body, or raise `StalledBody` for this one."""
        with self._lock:
            if body.is_cut:
                raise StalledBody
            own = self._by_network.setdefault(body.network, {})
            own[body] = None
            self._count += 1
            excess = self._excess(own)
            if excess is None:
                return
            if excess.can_be_cut() and not self._has_waited_enough(excess):
                self._has_excess.set()
                return
            cut = excess if excess.can_be_cut() else body
            self._cut(cut)
        if cut is body:
            raise StalledBody
        cut.cut()

    def end(self, body: Body) -> None:
        """Count the body no more; raise `StalledBody` if it was cut."""
        with self._lock:
            if body.is_cut:
                raise StalledBody
            self._forget(body)

    def cut_late(self) -> None:
        """Cut the bodies that have not arrived in time, and the bodies in excess that have waited enough."""
        now = self.clock()
        with self._lock:
            waiting = [body for own in self._by_network.values() for body in own]
            late = [body for body in waiting if body.due <= now and body.can_be_cut()]
            for body in late:
                self._cut(body)
            late += self._cut_excess()
        for body in late:
            body.cut()

    def watch(self) -> None:
        """Cut late bodies from now on, in a thread of its own."""
        threading.Thread(target=self._keep_watch, name="bodies", daemon=True).start()

    def _keep_watch(self) -> None:
        while True:
            if self._has_excess.wait(PAUSE):
                self._has_excess.clear()
                time.sleep(HASTE)
            try:
                self.cut_late()
            except Exception:
                _logger.exception("the look for late bodies failed")

    def _cut_excess(self) -> list[Body]:
        """Mark the bodies in excess as cut, and return them. If one is too young, the next look comes soon."""
        cut = []
        for own in list(self._by_network.values()):
            while (body := self._excess(own)) and body.can_be_cut():
                if not self._has_waited_enough(body):
                    self._has_excess.set()
                    break
                self._cut(body)
                cut.append(body)
        return cut

    def _excess(self, own: dict[Body, None]) -> Body | None:
        if len(own) > self._most_per_address:
            return _longest(own)
        if self._count > self._most():
            largest = max(self._by_network.values(), key=len)
            return _longest(largest)
        return None

    def _has_waited_enough(self, body: Body) -> bool:
        return self.clock() - body.began >= (HASTE if self._count > self._most_briefly() else GRACE)

    def _cut(self, body: Body) -> None:
        body.is_cut = True
        self._forget(body)

    def _forget(self, body: Body) -> None:
        own = self._by_network[body.network]
        del own[body]
        self._count -= 1
        if not own:
            del self._by_network[body.network]


def _longest(bodies: Iterable[Body]) -> Body:
    """Return the body that has waited longest."""
    return min(bodies, key=lambda body: body.began)


def bounded(application: Application) -> Application:
    """Return the application with bodies that `Waits` bounds. Call this once in a process."""
    waits = Waits(most=share, most_briefly=brief_share)
    waits.watch()

    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if environ.get("CONTENT_LENGTH", "0") not in ("", "0"):
            environ["wsgi.input"] = Body(environ, waits)
        return application(environ, start_response)

    return answer


def share() -> int:
    """Return how many threads may wait for a body now. Half of the threads that no wait may take stay free."""
    threads = settings.WEB_THREADS
    free = threads - waiting.seats.taken - (threads - waiting.seats.all) // 2
    return max(1, min(threads // SHARE, free))


def brief_share() -> int:
    """Return how many threads may wait for bodies until `GRACE`: three quarters of the threads that no wait holds.

    Later waits lower both shares. The next look cuts the excess, after `PAUSE` at the latest.
    """
    return max(share(), 3 * (settings.WEB_THREADS - waiting.seats.taken) // 4)


def _connections() -> int:
    """Return how many database connections the threads of this process share."""
    pool: dict[str, int] = settings.DATABASES["default"]["OPTIONS"].get("pool", {})
    return pool.get("max_size", settings.WEB_THREADS * SHARE)


def _release_connection() -> None:
    """Give this thread's database connection back to the pool. The next query takes one again."""
    if not connection.in_atomic_block:
        connection.close()


def _plain_answer() -> HttpResponse:
    text = f"{StalledBodyError.__doc__}\n"
    headers = {"Retry-After": "1", "Cache-Control": "no-store"}
    return HttpResponse(
        text, status=HTTPStatus.SERVICE_UNAVAILABLE, content_type="text/plain; charset=utf-8", headers=headers
    )
