"""Each kind of fault does to a request what its description says, and the seed alone decides its fate."""

import contextlib
import queue
import socket
import threading
from types import SimpleNamespace

import pytest

from tests.support.ports import CLOSED
from tests.support.raw_client import RawClient
from tools.proof import proxy
from tools.proof.history import History
from tools.proof.proxy import CUTS, KINDS, Proxy, proxied
from tools.proof.wire import Message, Wire, route_of

pytestmark = pytest.mark.one_database

ANSWER = b'HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n{"kind": "ok"}'


class Upstream:
    """A server that answers each whole request alike. ``whole`` has their routes."""

    def __init__(self) -> None:
        self.whole: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def address(self) -> tuple[str, int]:
        host, port = self.listener.getsockname()
        return host, port

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                threading.Thread(target=self._answer, args=[Wire(connection)], daemon=True).start()

    def _answer(self, wire: Wire) -> None:
        with contextlib.suppress(OSError):
            while (request := wire.receive()) is not None:
                self.whole.put(request.route)
                wire.send(ANSWER)
        wire.close()


@pytest.fixture
def upstream():
    found = Upstream()
    yield found
    found.listener.shutdown(socket.SHUT_RDWR)
    found.listener.close()


def call(at: Proxy, request_id: str) -> int | None:
    """Return the status of one request through the proxy; None for a cut."""
    with RawClient(at.url, "key", timeout=20) as client:
        try:
            return client.call("POST", "/a2a/tasks", b'{"intent_text": "work"}', {"X-Request-Id": request_id}).status
        except OSError:
            return None


@pytest.mark.parametrize("kind", KINDS)
def test_a_fault_does_what_it_says(upstream, monkeypatch, kind):
    monkeypatch.setattr(proxy, "time", SimpleNamespace(sleep=lambda _: None))
    deliveries = {"before": 0, "half": 0, "duplicated": 2}.get(kind, 1)
    with proxied(upstream.address, History(1), {kind: 1.0}) as at:
        statuses = {call(at, f"request-{number}") for number in range(5)}

        assert statuses == ({None} if kind in CUTS else {200})
        assert [upstream.whole.get() for _ in range(5 * deliveries)] == ["POST /a2a/tasks"] * 5 * deliveries
        assert at.counts == {(kind, "POST /a2a/tasks"): 5}
        assert at.cuts == (5 if kind in CUTS else 0)
    assert upstream.whole.empty()


def test_the_seed_and_the_request_id_decide_the_fate_of_each_try():
    def fates(seed: int) -> list[str]:
        quiet = Proxy(("127.0.0.1", 1), History(seed), dict.fromkeys(KINDS, 0.1))
        request = Message(b"GET /a2a/tasks/next HTTP/1.1\r\nX-Request-Id: one\r\n\r\n")
        found = [quiet.fate(request)[0] for _ in range(40)]
        quiet.close()
        return found

    assert fates(1) == fates(1) != fates(2)
    assert set(fates(1)) > {"", "early"}


def test_a_hub_that_is_away_is_a_cut():
    with proxied(("127.0.0.1", CLOSED), History(1), {}) as at:
        assert call(at, "one") is None


def test_routes_are_counted_without_their_ids():
    task = "0b0a8f0e-6f0c-4d1c-9b53-2f6b3c0f7d11"

    assert route_of("GET", "/a2a/tasks/next?wait_ms=5") == "GET /a2a/tasks/next"
    assert route_of("POST", f"/a2a/tasks/{task}/release") == "POST /a2a/tasks/{id}/release"
    assert route_of("POST", f"/a2a/inboxes/w@load/tasks/{task}/accept") == "POST /a2a/inboxes/{agent}/tasks/{id}/accept"
