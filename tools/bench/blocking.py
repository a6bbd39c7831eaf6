"""Clients that each send an official message and wait for its outcome, all in one process without threads."""

import json
import multiprocessing
import selectors
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from typing import Any

import psutil

from tests.support.raw_client import LENGTH
from tools.bench import cycles, official_call
from tools.bench.cycles import PATIENCE
from tools.bench.short import percentiles

WARM_UP = 2.0  # seconds that all clients send before the measurement

Spenders = Mapping[str, Callable[[], Sequence[psutil.Process]]]


@dataclass(slots=True)
class Sent:
    """The measurement of all clients: the seconds of each message, those of the whole, and their processor time."""

    taken: list[float] = field(default_factory=list)
    seconds: float = 0.0
    cpu: float = 0.0


@dataclass(slots=True)
class Caller:
    """A connection with one message under way."""

    connection: socket.socket
    head: str
    name: str
    number: int = 0
    asked_at: float = 0.0
    received: bytes = b""

    @property
    def text(self) -> str:
        return f"{self.name} {self.number}"

    def ask(self) -> None:
        self.number, self.received = self.number + 1, b""
        call = official_call.call(self.head, "SendMessage", self.text)
        self.asked_at = time.perf_counter()
        self.connection.sendall(call)

    def is_answered(self) -> bool:
        """Read what has come; return whether the answer is whole. Fail if it is not the echo of the message."""
        got = self.connection.recv(65_536)
        assert got, "the server closed the connection"
        self.received += got
        end = self.received.find(b"\r\n\r\n")
        if end < 0 or not _is_whole(self.received, end):
            return False
        assert self.received.startswith(b"HTTP/1.1 200 "), self.received
        task = json.loads(self.received[self.received.index(b"{", end) : self.received.rindex(b"}") + 1])["result"][
            "task"
        ]
        assert task["status"]["state"] == "TASK_STATE_COMPLETED", task
        assert task["artifacts"][0]["parts"][0]["text"] == self.text, task
        return True


def _is_whole(received: bytes, end: int) -> bool:
    """Whether the answer is whole, whose head ends there. A late answer comes in chunks, with its JSON in one."""
    length = LENGTH.search(received, 0, end + 2)
    return len(received) >= end + 4 + int(length[1]) if length else received.endswith(b"\r\n0\r\n\r\n")


def measured(url: str, keys: Sequence[str], seconds: float, spenders: Spenders) -> dict[str, Any]:
    """Let a client for each key send for ``seconds``, one message after the other, to the agent with this JSON-RPC URL.

    Return the rate, percentiles in milliseconds, and milliseconds of processor time for a message by spender.
    """
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_send, args=(url, keys, seconds, there), daemon=True)
    process.start()
    there.close()
    try:
        _told(here)
        before = {name: cycles.cpu_seconds(processes()) for name, processes in spenders.items()}
        sent: Sent = _told(here, seconds)
        after = {name: cycles.cpu_seconds(processes()) for name, processes in spenders.items()}
        _told(here)  # every message is answered
    finally:
        process.terminate()
        process.join(PATIENCE)
    spent = {name: cycles.spent(before[name], after[name]) for name in spenders} | {"clients": sent.cpu}
    return {
        "per second": len(sent.taken) / sent.seconds,
        **percentiles([1000 * one for one in sent.taken]),
        "cpu ms": {name: 1000 * used / len(sent.taken) for name, used in spent.items()},
    }


def _told(pipe: Connection, seconds: float = 0) -> Any:
    assert pipe.poll(seconds + PATIENCE), "the clients do not answer"
    return pipe.recv()


def _send(url: str, keys: Sequence[str], seconds: float, pipe: Connection) -> None:
    """Tell when the measurement begins, then its `Sent`, then that no message is under way any more."""
    with selectors.DefaultSelector() as selector, ExitStack() as open_ones:
        for place, key in enumerate(keys):
            caller = Caller(official_call.connection(url), official_call.head(url, key), f"client {place}, message")
            open_ones.enter_context(closing(caller.connection))
            selector.register(caller.connection, selectors.EVENT_READ, caller)
            caller.ask()
        _turns(selector, WARM_UP, len(keys))
        pipe.send(None)
        pipe.send(_turns(selector, seconds, 1))
        while selector.get_map():
            for ready, _ in selector.select():
                if ready.data.is_answered():
                    selector.unregister(ready.data.connection)
        pipe.send(None)


def _turns(selector: selectors.BaseSelector, seconds: float, least: int) -> Sent:
    """Send for so many seconds, and until ``least`` answers came. Each answer is followed by the next message."""
    sent, cpu, begun = Sent(), time.process_time(), time.perf_counter()
    while sent.seconds < seconds or len(sent.taken) < least:
        for ready, _ in selector.select(max(0.0, seconds - sent.seconds)):
            caller = ready.data
            if caller.is_answered():
                sent.taken.append(time.perf_counter() - caller.asked_at)
                caller.ask()
        sent.seconds = time.perf_counter() - begun
    sent.cpu = time.process_time() - cpu
    return sent
