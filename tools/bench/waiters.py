"""Many agents that wait for a task, each on a connection of its own, in one client process without threads."""

import multiprocessing
import resource
import selectors
import socket
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any
from urllib.parse import urlsplit

from tests.support.raw_client import LENGTH
from tools.bench.cycles import PATIENCE

WAIT_MS = 60_000  # which the measured hubs allow
JOINING = 400  # agents that begin to wait in a second
PAUSE = 1.0  # seconds before the next wait, if the hub answered one too early


@dataclass(slots=True)
class Waiter:
    """A connection with one request under way, or none after an answer."""

    connection: socket.socket
    head: str
    spread_ms: int  # its second wait, so that waits which began together do not end together for ever
    asked: int = 0
    wait_ms: int = WAIT_MS
    asked_at: float = 0.0
    received: bytes = b""

    def ask(self) -> None:
        self.asked_at, self.received = time.monotonic(), b""
        self.asked += 1
        self.wait_ms = self.spread_ms if self.asked == 2 else WAIT_MS
        self.connection.sendall(f"GET /a2a/tasks/next?wait_ms={self.wait_ms} HTTP/1.1\r\n{self.head}\r\n\r\n".encode())

    def is_answered(self) -> bool:
        end = self.received.find(b"\r\n\r\n")
        length = LENGTH.search(self.received, 0, end + 2) if end >= 0 else None
        return length is not None and len(self.received) >= end + 4 + int(length[1])


@dataclass(slots=True)
class Counts:
    """The answers that waiters got: after the whole wait, too early, and other than 200; and lost connections."""

    whole: int = 0
    early: int = 0
    refused: int = 0
    lost: int = 0


@dataclass(slots=True)
class Crowd:
    """All waiters, with those that pause before their next request."""

    selector: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)
    resting: deque[tuple[float, Waiter]] = field(default_factory=deque)
    counts: Counts = field(default_factory=Counts)

    def join(self, waiter: Waiter) -> None:
        waiter.ask()
        self.selector.register(waiter.connection, selectors.EVENT_READ, waiter)

    def turn(self, seconds: float = 0.1) -> None:
        """Read the answers that come within ``seconds``, and send again where a pause is over."""
        for ready, _ in self.selector.select(seconds):
            self._read(ready.data)
        while self.resting and self.resting[0][0] <= time.monotonic():
            self.resting.popleft()[1].ask()

    def _read(self, waiter: Waiter) -> None:
        try:
            got = waiter.connection.recv(65_536)
        except OSError:
            got = b""
        if not got:
            self.selector.unregister(waiter.connection)
            self.counts.lost += 1
            return
        waiter.received += got
        if not waiter.is_answered():
            return
        is_early = time.monotonic() - waiter.asked_at < 0.9 * waiter.wait_ms / 1000
        self.counts.refused += not waiter.received.startswith(b"HTTP/1.1 200 ")
        self.counts.early += is_early
        self.counts.whole += not is_early
        if is_early:
            self.resting.append((time.monotonic() + PAUSE, waiter))
        else:
            waiter.ask()


@contextmanager
def waiting(url: str, keys: Sequence[str]) -> Iterator[Callable[[], Counts]]:
    """Let the agents of these keys wait during the block. Yield a function that returns the counts so far."""
    with in_a_process(_wait, url, keys) as counts:
        yield counts


@contextmanager
def in_a_process(work: Callable[..., None], *arguments: Any) -> Iterator[Callable[[], Any]]:
    """Run ``work(*arguments, orders)`` in a process during the block. Yield a function that asks it for its counts."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=work, args=(*arguments, there), daemon=True)
    process.start()
    there.close()

    def counts() -> Any:
        here.send("count")
        assert here.poll(PATIENCE), "the waiters do not answer"
        return here.recv()

    try:
        counts()  # returns once every request is sent
        yield counts
    finally:
        with suppress(BrokenPipeError):
            here.send("end")
        process.join(PATIENCE)


def admit_many_files() -> None:
    """Let this process, and the processes that it starts, open as many files as the machine allows."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _wait(url: str, keys: Sequence[str], orders: Connection) -> None:
    admit_many_files()
    parts, crowd = urlsplit(url), Crowd()
    begun = time.monotonic()
    for place, key in enumerate(keys):
        while time.monotonic() < begun + place / JOINING:
            crowd.turn(1 / JOINING)
        head = f"Host: {parts.netloc}\r\nAuthorization: Bearer {key}"
        connection = socket.create_connection((parts.hostname or "", parts.port or 80), PATIENCE)
        crowd.join(Waiter(connection, head, spread_ms=1_000 + (WAIT_MS - 1_000) * place // len(keys)))
    serve_orders(crowd.turn, lambda: crowd.counts, orders)


def serve_orders(turn: Callable[[], None], counts: Callable[[], Any], orders: Connection) -> None:
    """Take turns until the order to end, and answer the orders to count."""
    while True:
        turn()
        if orders.poll():
            if orders.recv() == "end":
                return
            orders.send(counts())
