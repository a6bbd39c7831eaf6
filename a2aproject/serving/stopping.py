"""The stop of a hub's processes: by signals, and by the pipe that ends with the supervisor.

A web worker still answers the requests that it has begun. The supervisor alone holds the writing end of the pipe, and
the operating system closes that end with the supervisor, even if it was killed. A pipe works on every Unix, and a
process started later notices a closed pipe too.
"""

import contextlib
import multiprocessing
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)
VARIABLE = "A2A_LIFELINE"  # in the environment of a new program: the descriptor of the reading end
GRACE = 5.0  # seconds that a program has to stop after its supervisor ended, before its process group is killed
_is_followed = False


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


@contextlib.contextmanager
def held() -> Iterator[int]:
    """Yield the reading end for new programs. They take the end of the block for the end of the supervisor."""
    reader, writer = os.pipe()
    try:
        yield reader
    finally:
        os.close(writer)
        os.close(reader)


def follow_supervisor() -> None:
    """Stop this program when the supervisor has ended. A program that does not stop in `GRACE` seconds is killed.

    The process must lead a process group of its own. Each process that it forks watches the pipe too and kills the
    whole group. So the group ends even if this process is dead or stuck.
    """
    global _is_followed
    _is_followed = True
    reader = int(os.environ.pop(VARIABLE))
    os.set_inheritable(reader, False)
    main = threading.main_thread().ident or 0

    def read() -> object:
        return os.read(reader, 1)  # no process writes, so it returns when the pipe is closed

    _kill_group_after(read, stop=lambda: signal.pthread_kill(main, signal.SIGTERM))
    os.register_at_fork(after_in_child=lambda: _kill_group_after(read))


def follow_parent() -> None:
    """Kill this process group when the parent process has ended, unless this process watches the pipe.

    Where the web server cannot fork its workers, they start anew and without the pipe.
    """
    parent = multiprocessing.parent_process()
    if parent is not None and not _is_followed:
        _kill_group_after(parent.join)


def _kill_group_after(wait: Callable[[], object], stop: Callable[[], object] = lambda: None) -> None:
    """Wait in a thread, then call ``stop``, and kill this process group `GRACE` seconds later."""

    def work() -> None:
        wait()
        stop()
        time.sleep(GRACE)
        os.killpg(os.getpgrp(), signal.SIGKILL)

    threading.Thread(target=work, name="lifeline", daemon=True).start()
