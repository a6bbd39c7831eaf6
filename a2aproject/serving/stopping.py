"""How a web worker hears that it is to stop, while it still answers what it has begun."""

from __future__ import annotations

import signal
import socket
import threading
from collections.abc import Callable

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


def end_at_once() -> None:
    """Let a stop signal end this process, which has begun nothing.

    A worker inherits its parent's handler, which tells nobody in the worker: told to stop while it loads
    the application, it would stay until it is killed.
    """
    if _is_main_thread():
        for number in STOP_SIGNALS:
            signal.signal(number, signal.SIG_DFL)


def hear(then: Callable[[], object]) -> None:
    """Call ``then``, in a thread of its own, when a stop signal arrives, whoever handles that."""
    if not _is_main_thread():
        return
    told, tell = socket.socketpair()
    tell.setblocking(False)
    signal.set_wakeup_fd(tell.fileno(), warn_on_full_buffer=False)
    threading.Thread(target=_wait, args=(told, tell, then), daemon=True).start()


def _wait(told: socket.socket, _tell: socket.socket, then: Callable[[], object]) -> None:
    """Wait for the signal; the end it is written to is open for as long as somebody here holds it."""
    while told.recv(1)[0] not in STOP_SIGNALS:
        pass
    then()


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
