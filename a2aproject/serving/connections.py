"""The connections of requests: the hub cuts that of a body that does not arrive, and of an answer that is not read.

The web server waits for a body without limit of time, and nothing interrupts that wait. Only the end of the connection
does. So the hub takes the server's own handle of the connection, which is private to the server, and answers on it.
The note of that handle also keeps environment variables out of the request.

The server also ends with all its workers when one of them dies within seconds of its start. The hub keeps the others.
"""

import math
import os
import socket
import stat
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import SimpleNamespace
from typing import Any

from granian import wsgi
from granian.server import mp

from a2aproject.serving.supervisor import FIRST_PAUSE, LONGEST_PAUSE, STEADY_AFTER

UNREAD = 60  # seconds in which a client must take a byte of its answer
LISTENS_AFTER = 0.1  # seconds between two looks whether the server listens
HANDLE = "a2a.connection"  # in a request's environ: the web server's handle of the connection
LINGER = 1.0  # seconds in which the server writes the answer before the connection ends
HURRIED = 0.05  # the same while many connections linger, since each holds the thread of its request
MOST_UNHURRIED = 8  # connections at once
_RESPAWN = "_respawn_workers"  # granian's name of what starts dead workers again
_WRAPPER = "_wsgi_call_wrap"  # granian's name of what makes the callback of a web process
_SYSTEM = "os"  # the module from which granian takes the environment variables
MOST_LINGERING = 64  # connections at once; beyond it a connection ends without an answer

_lingering = threading.BoundedSemaphore(MOST_LINGERING)
_unhurried = threading.BoundedSemaphore(MOST_UNHURRIED)


def note_in_requests() -> None:
    """Let the web server put its handle into each request's environ, and no environment variables.

    Call this before the server starts.
    """
    wrap = getattr(mp, _WRAPPER)

    def with_handle(application: Callable[..., Any], *options: Any) -> Callable[[Any, dict[str, Any]], Any]:
        with _no_environment_variables():
            run = wrap(application, *options)

        def answer(handle: Any, scope: dict[str, Any]) -> Any:
            scope[HANDLE] = handle
            return run(handle, scope)

        return answer

    setattr(mp, _WRAPPER, with_handle)


def end_unread() -> None:
    """Let the system end each connection whose client takes no byte of its answer for `UNREAD` seconds.

    The thread that sends the answer then gets an error. Call this in a web process; it works once the server listens.
    Only Linux has this limit.
    """
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        threading.Thread(target=_limit_listeners, name="unread", daemon=True).start()


def _limit_listeners() -> None:
    while not limit_listeners(UNREAD):
        time.sleep(LISTENS_AFTER)


def limit_listeners(seconds: int) -> int:
    """Set the limit of `end_unread` for the connections that this process accepts from now on.

    Return the number of its listening sockets.
    """
    count = 0
    for name in os.listdir("/proc/self/fd"):
        with suppress(OSError):  # closed meanwhile
            if not stat.S_ISSOCK(os.fstat(int(name)).st_mode):
                continue
            with socket.socket(fileno=os.dup(int(name))) as listener:
                if listener.family != socket.AF_UNIX and listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
                    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, seconds * 1000)
                    count += 1
    return count


def keep_workers_beside_a_dead_one() -> None:
    """Let the web server start a worker that died in a row after a growing pause, as long as another worker runs.

    Without another worker the server ends, and the supervisor starts it again. Call this in the server's parent.
    """
    respawn = getattr(mp.MPServer, _RESPAWN)
    started: dict[int, float] = {}
    deaths: Counter[int] = Counter()

    def respawn_later(server: Any, workers: Sequence[int], *rest: Any, **options: Any) -> None:
        now = time.monotonic()
        for worker in workers:
            is_steady = now - started.get(worker, -math.inf) >= STEADY_AFTER
            deaths[worker] = 0 if is_steady else deaths[worker] + 1
        most = max(deaths[worker] for worker in workers)
        server.main_loop_interrupt.wait(min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (most - 1)) if most else 0)
        if server.interrupt_signal:
            return
        respawn(server, workers, *rest, **options)
        started.update(dict.fromkeys(workers, time.monotonic()))
        if any(worker.is_alive() for worker in server.wrks if worker.idx not in workers):
            server.respawned_wrks.clear()  # by these times the server judges whether to end

    setattr(mp.MPServer, _RESPAWN, respawn_later)


@contextmanager
def _no_environment_variables() -> Iterator[None]:
    """Let the web server see no environment variables in the block.

    It would copy them all into each request's environ. That takes time, holds secrets, and a variable such as
    HTTP_PROXY would look like a header of the client.
    """
    system = getattr(wsgi, _SYSTEM)
    setattr(wsgi, _SYSTEM, SimpleNamespace(environ={}))
    try:
        yield
    finally:
        setattr(wsgi, _SYSTEM, system)


def can_cut(environ: Mapping[str, Any]) -> bool:
    return HANDLE in environ


def cut(environ: Mapping[str, Any], status: int, headers: Sequence[tuple[str, str]], body: bytes) -> None:
    """Answer the request and end its connection, at once and from any thread.

    The request's own thread then reads the end of the body, and its own answer is dropped. If that thread has answered
    before, nothing happens.
    """
    # The server ends a connection whose answer is shorter than announced. That end alone interrupts the wait.
    announced = [*headers, ("Content-Length", str(len(body) + 1)), ("Connection", "close")]
    answer = environ[HANDLE].response_iter
    if not _lingering.acquire(blocking=False):
        answer(status, announced, iter(()))
        return
    try:
        threading.Thread(target=_answer, args=(answer, status, announced, body), daemon=True).start()
    except RuntimeError:  # no thread to be had
        _lingering.release()
        answer(status, announced, iter(()))


def _answer(answer: Callable[..., None], status: int, headers: Sequence[tuple[str, str]], body: bytes) -> None:
    is_unhurried = _unhurried.acquire(blocking=False)
    try:
        answer(status, headers, _then_a_pause(body, LINGER if is_unhurried else HURRIED))
    finally:
        if is_unhurried:
            _unhurried.release()
        _lingering.release()


def _then_a_pause(body: bytes, seconds: float) -> Iterator[bytes]:
    yield body
    time.sleep(seconds)
