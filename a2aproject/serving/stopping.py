"""Stop signals of a web worker, which still answers the requests that it has begun."""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Callable

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)


def end_at_once() -> None:
    """Let a stop signal end this process while it loads the application and answers no request.

    A worker inherits its parent's handler, which does nothing in the worker. With it, a worker that is stopped while it
    loads would run until it is killed.
    """
    if _is_main_thread():
        for number in STOP_SIGNALS:
            signal.signal(number, signal.SIG_DFL)


def end_forked_processes_at_once() -> None:
    """Let a stop signal end each process that this process forks, from its first moment on, as `end_at_once` does.

    A signal that arrives during the fork waits until the new process can obey it.
    """

    def unblock() -> None:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)

    def begin() -> None:
        end_at_once()
        unblock()

    os.register_at_fork(
        before=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS),
        after_in_parent=unblock,
        after_in_child=begin,
    )


def call_at_stop(call: Callable[[], object]) -> None:
    """Run ``call`` in a thread of its own when a stop signal arrives. The handlers of the signal stay."""
    if not _is_main_thread():
        return
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    threading.Thread(target=_wait, args=(reader, writer, call), daemon=True).start()


def _wait(reader: socket.socket, _writer: socket.socket, call: Callable[[], object]) -> None:
    """Run ``call`` at each stop signal.

    The thread never ends and holds both sockets. A signal that finds its socket closed would print a traceback.
    """
    while True:
        if reader.recv(1)[0] in STOP_SIGNALS:
            call()


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
