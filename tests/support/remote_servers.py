"""Remote servers on the loopback: raw servers that send a test's bytes, and a corvid-agent."""

import json
import os
import socket
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from mailbox.outbound import exchange
from tests.support.http_servers import Handler, serving

Conversation = Callable[[socket.socket, threading.Event], None]
MADE_AT = "2026-01-02T03:04:05.678Z"


def hang_up() -> None:
    """Close the connections that the hub's client in this process keeps open."""
    if exchange._client.cache_info().currsize:
        exchange._client(os.getpid()).close()
        exchange._client.cache_clear()


@contextmanager
def raw_server(converse: Conversation) -> Iterator[str]:
    """Serve connections until the block ends; yield the URL. ``converse`` runs once a request has begun to arrive.

    The event is set when the block ends. Endless conversations wait for it.
    """
    over = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while not over.is_set():
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=talk, args=(connection,), daemon=True).start()

    def talk(connection: socket.socket) -> None:
        with connection:
            try:
                connection.recv(65536)
                converse(connection, over)
            except OSError:
                pass

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        hang_up()
        over.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


class Drip:
    """Sends one drop for each read of the hub. A read takes 10 ms of the hub's clock, so no read waits for long."""

    def __init__(self) -> None:
        self.seconds, self.reads = 0.0, threading.Semaphore(0)

    def converse(self, *beginning: bytes, drop: bytes = b"x") -> Conversation:
        """Return a conversation that sends the beginning, then drops without end."""

        def converse(connection: socket.socket, over: threading.Event) -> None:
            for part in beginning:
                connection.sendall(part)
            while not over.is_set():
                self.reads.acquire()
                connection.sendall(drop)

        return converse


@pytest.fixture
def drip(monkeypatch: pytest.MonkeyPatch) -> Iterator[Drip]:
    drip, read = Drip(), exchange.DeadlineStream.read

    def read_a_drop(*arguments: Any, **named: Any) -> bytes:
        drip.seconds += 0.01
        drip.reads.release()
        return read(*arguments, **named)

    monkeypatch.setattr(exchange, "monotonic", lambda: drip.seconds)
    monkeypatch.setattr(exchange.DeadlineStream, "read", read_a_drop)
    yield drip
    drip.reads.release()


@dataclass
class Corvid:
    """A corvid-agent as its clients see it. The beginning of a task's text chooses its outcome.

    ``never`` does not end, ``fail`` fails, ``refuse`` is answered with 429. Other tasks succeed after ``looks`` polls.
    A ``poll_status`` other than 200 makes polls fail. ``requests`` and ``tasks`` record the requests for tests.
    """

    url: str = ""
    looks: int = 0
    poll_status: int = 200
    requests: list[tuple[str, str, dict[str, str], bytes]] = field(default_factory=list)
    tasks: dict[str, dict[str, Any]] = field(default_factory=dict)
    card: Any = field(default_factory=lambda: {"name": "Corvid", "version": "1.0.0", "skills": []})
    card_status: int = 200

    @property
    def bodies(self) -> list[Any]:
        """The bodies of the submissions."""
        return [json.loads(body) for method, _, _, body in self.requests if method == "POST"]

    @property
    def paths(self) -> list[str]:
        return [path for _, path, _, _ in self.requests]

    def answer(self, method: str, path: str, body: bytes) -> tuple[int, Any]:
        if path == "/counts":
            return 200, {
                "submitted": len(self.tasks),
                "looks": sum(task.get("looked", 0) for task in self.tasks.values()),
            }
        if path.endswith("/.well-known/agent-card.json"):
            return self.card_status, self.card
        if method == "POST" and path.endswith("/a2a/tasks/send"):
            return self._send(json.loads(body)["params"]["message"])
        return self._show(path.rpartition("/")[2])

    def _send(self, text: str) -> tuple[int, Any]:
        if text.startswith("refuse"):
            return 429, {"error": "Rate limit exceeded. Try again later."}
        task_id = str(uuid.uuid4())
        message = {"role": "user", "parts": [{"type": "text", "text": text}]}
        task = {"id": task_id, "state": "working", "messages": [message], "sessionId": None}
        self.tasks[task_id] = {**task, "createdAt": MADE_AT, "updatedAt": MADE_AT}
        return 200, self.tasks[task_id]

    def _show(self, task_id: str) -> tuple[int, Any]:
        if self.poll_status != 200:
            return self.poll_status, {"error": "no"}
        if task_id not in self.tasks:
            return 404, {"error": "Task not found"}
        task = self.tasks[task_id]
        text = task["messages"][0]["parts"][0]["text"]
        looked = task.setdefault("looked", 0)
        task["looked"] += 1
        if not text.startswith("never") and looked >= self.looks and task["state"] == "working":
            task["state"] = "failed" if text.startswith("fail") else "completed"
            self._say(task, f"{text}: done" if task["state"] == "completed" else "no ink")
        elif task["state"] == "working":
            self._say(task, f"step {looked + 1}")
        return 200, task

    def _say(self, task: dict[str, Any], text: str) -> None:
        task["messages"].append({"role": "agent", "parts": [{"type": "text", "text": text}]})


class CorvidHandler(Handler):
    protocol_version = "HTTP/1.1"
    agent: Corvid

    def answer(self, body: bytes) -> None:
        self.agent.requests.append((self.command, self.path, dict(self.headers), body))
        status, value = self.agent.answer(self.command, self.path, body)
        answer = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send(status, answer, ("Content-Type", "application/json"))


@contextmanager
def corvid(port: int = 0) -> Iterator[Corvid]:
    """Serve a `Corvid` until the block ends."""
    agent = Corvid()
    handler = type("Handler", (CorvidHandler,), {"agent": agent})
    with serving(handler, port) as agent.url:
        try:
            yield agent
        finally:
            hang_up()


@pytest.fixture
def remote(settings: Any) -> Iterator[Corvid]:
    """Serve a corvid-agent on the loopback, which the hub may call."""
    settings.A2A_OUTBOUND_ALLOW = ["127.0.0.0/8"]
    with corvid() as agent:
        yield agent


if __name__ == "__main__":
    with corvid() as served:
        served.looks = int(sys.argv[1])
        print(served.url, flush=True)  # noqa: T201
        threading.Event().wait()
