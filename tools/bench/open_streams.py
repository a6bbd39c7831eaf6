"""Clients that each hold an official stream open, all in one process without threads."""

import selectors
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection

from tools.bench import official_call
from tools.bench.cycles import PATIENCE
from tools.bench.waiters import JOINING, admit_many_files, in_a_process, serve_orders

FIRST_EVENT = b'"TASK_STATE_SUBMITTED"'


@dataclass(slots=True)
class Stream:
    """A connection whose stream is open once its first event has come."""

    connection: socket.socket
    received: bytes = b""
    is_open: bool = False


@dataclass(slots=True)
class StreamCounts:
    """The streams that were opened, refused and ended; and how often something came on an open one."""

    opened: int = 0
    refused: int = 0
    ended: int = 0
    signs: int = 0


@dataclass(slots=True)
class Listeners:
    """All streams."""

    selector: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)
    counts: StreamCounts = field(default_factory=StreamCounts)

    def turn(self, seconds: float = 0.1) -> None:
        """Read what comes within ``seconds``."""
        for ready, _ in self.selector.select(seconds):
            self._read(ready.data)

    def _read(self, stream: Stream) -> None:
        try:
            got = stream.connection.recv(65_536)
        except OSError:
            got = b""
        if not got:
            self.selector.unregister(stream.connection)
            self.counts.ended += 1
        elif stream.is_open:
            self.counts.signs += 1
        else:
            self._open(stream, got)

    def _open(self, stream: Stream, got: bytes) -> None:
        stream.received += got
        if FIRST_EVENT in stream.received:
            stream.is_open, stream.received = True, b""
            self.counts.opened += 1
        elif stream.received[9:12] not in (b"", b"200"):
            self.selector.unregister(stream.connection)
            self.counts.refused += 1


def streaming(url: str, keys: Sequence[str]) -> AbstractContextManager[Callable[[], StreamCounts]]:
    """Hold a stream open for each key during the block, on a new task of the agent with this JSON-RPC URL.

    Yield a function that returns the counts so far.
    """
    return in_a_process(_stream, url, keys)


def _stream(url: str, keys: Sequence[str], orders: Connection) -> None:
    admit_many_files()
    listeners = Listeners()
    begun = time.monotonic()
    for place, key in enumerate(keys):
        while time.monotonic() < begun + place / JOINING:
            listeners.turn(1 / JOINING)
        connection = official_call.connection(url)
        connection.sendall(official_call.call(official_call.head(url, key), "SendStreamingMessage", f"stream {place}"))
        listeners.selector.register(connection, selectors.EVENT_READ, Stream(connection))
    ends_at, counts = time.monotonic() + PATIENCE / 2, listeners.counts
    while counts.opened + counts.refused + counts.ended < len(keys) and time.monotonic() < ends_at:
        listeners.turn()
    serve_orders(listeners.turn, lambda: counts, orders)
