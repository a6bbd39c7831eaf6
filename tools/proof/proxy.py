"""A proxy that disturbs requests by a seed: it cuts, delays and repeats them between the actors and the hub."""

import contextlib
import random
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

from tools.proof.history import History
from tools.proof.wire import Message, Wire

TIMEOUT = 60.0  # seconds without a byte from the hub: longer than its longest wait
LONGEST_DELAY = 0.4

# The effect of each kind. A cut is a reset of the client's connection.
KINDS: Mapping[str, str] = {
    "before": "cut, and nothing reaches the hub",
    "half": "cut, and half of the request reaches the hub",
    "early": "the whole request reaches the hub, and the client is cut at once",
    "after": "cut after the proxy has the whole answer",
    "truncated": "cut after a part of the answer",
    "delayed": "the request reaches the hub later",
    "slow": "request and answer pass in small pieces",
    "duplicated": "the request reaches the hub twice at once, and the client gets one of the answers",
}
CUTS = ("before", "half", "early", "after", "truncated")

QUIET: Mapping[str, float] = {}
USUAL: Mapping[str, float] = {
    "before": 0.02,
    "half": 0.02,
    "early": 0.07,
    "after": 0.05,
    "truncated": 0.03,
    "delayed": 0.03,
    "slow": 0.01,
    "duplicated": 0.04,
}


class Proxy:
    """Listens on the loopback and forwards to a hub. ``rates`` is the share of requests that each kind strikes.

    Each request meets the same fate in each run with the same seed: its request id and the number of the try decide.
    ``counts`` counts the faults by (kind, route).
    """

    def __init__(self, hub: tuple[str, int], history: History, rates: Mapping[str, float]) -> None:
        assert set(rates) <= set(KINDS), rates
        self.hub = hub
        self.history = history
        self.rates = rates
        self.counts: Counter[tuple[str, str]] = Counter()
        self.requests = 0
        self._tries: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self._twins = ThreadPoolExecutor(32, thread_name_prefix="twin")

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    @property
    def cuts(self) -> int:
        """The number of requests whose client got no answer because of the proxy."""
        return sum(count for (kind, _), count in self.counts.items() if kind in CUTS)

    def serve(self) -> None:
        """Accept connections until `close`."""
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            connection.settimeout(TIMEOUT)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._attend, args=[Wire(connection)], daemon=True).start()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._twins.shutdown(wait=False)

    def fate(self, request: Message) -> tuple[str, random.Random]:
        """Return the kind of fault for this try of a request, "" for none, and the numbers of its details."""
        request_id = request.request_id
        with self._lock:
            self.requests += 1
            self._tries[request_id] += 1
            rng = random.Random(f"{self.history.seed} {request_id} {self._tries[request_id]}")
            drawn, kind = rng.random(), ""
            for name, rate in self.rates.items():
                drawn -= rate
                if drawn < 0:
                    kind = name
                    break
            if kind:
                self.counts[kind, request.route] += 1
        if kind:
            self.history.faulted(request_id, kind)
        return kind, rng

    def _attend(self, client: Wire) -> None:
        """Forward the requests of one connection, until a fault or either side ends it."""
        hub: Wire | None = None
        try:
            while (request := client.receive()) is not None:
                kind, rng = self.fate(request)
                hub = hub or Wire.to(self.hub, TIMEOUT)
                if not FORWARD.get(kind, _plainly)(self, client, hub, request, rng):
                    hub = None  # it is left to `_forward_early`, or closed
                    return
        except OSError:
            with contextlib.suppress(OSError):
                client.reset()
        finally:
            client.close()
            if hub is not None:
                hub.close()

    def twin(self, request: Message) -> Message | None:
        """Deliver the request once more, on a connection of its own."""
        other = Wire.to(self.hub, TIMEOUT)
        try:
            other.send(request.raw)
            return other.receive()
        finally:
            other.close()

    def at_once(self, work: Callable[[], Message | None]) -> Callable[[], Message | None]:
        return self._twins.submit(work).result


def _answer(hub: Wire) -> Message:
    answer = hub.receive()
    if answer is None:
        raise ConnectionResetError("the hub closed the connection")
    return answer


def _plainly(proxy: Proxy, client: Wire, hub: Wire, request: Message, rng: random.Random) -> bool:
    hub.send(request.raw)
    client.send(_answer(hub).raw)
    return True


def _before(proxy: Proxy, client: Wire, hub: Wire, request: Message, rng: random.Random) -> bool:
    client.reset()
    hub.close()
    return False


def _half(proxy: Proxy, client: Wire, hub: Wire, request: Message, rng: random.Random) -> bool:
    hub.send(request.raw[: rng.randrange(1, len(request.raw))])
    client.reset()
    hub.close() if rng.random() < 0.5 else hub.reset()
    return False


def _early(proxy: Proxy, client: Wire, hub: Wire, request: Message, rng: random.Random) -> bool:
    """Cut the client at once. The hub's connection is cut too, or stays until the hub has answered."""
    hub.send(request.raw)
    client.reset()
    if rng.random() < 0.3:
        hub.reset()
        return False
    try:
        hub.receive()
    finally:
        hub.close()
    return False


def _after(proxy: Proxy, client: Wire, hub: Wire, request: Message, rng: random.Random) -> bool:
    hub.send(request.raw)
    _answer(hub)
    client.reset()
    hub.close()
    return False


def _truncated(proxy: Proxy, client: Wire, hub: Wire, request: Message, rng: random.Random) -> bool:
    hub.send(request.raw)
    answer = _answer(hub)
    client.send(answer.raw[: rng.randrange(len(answer.raw))])
    client.reset()
    hub.close()
    return False


def _delayed(proxy: Proxy, client: Wire, hub: Wire, request: Message, rng: random.Random) -> bool:
    time.sleep(rng.random() * LONGEST_DELAY)
    return _plainly(proxy, client, hub, request, rng)


def _slow(proxy: Proxy, client: Wire, hub: Wire, request: Message, rng: random.Random) -> bool:
    for piece in _pieces(request.raw):
        hub.send(piece)
    for piece in _pieces(_answer(hub).raw):
        client.send(piece)
    return True


def _duplicated(proxy: Proxy, client: Wire, hub: Wire, request: Message, rng: random.Random) -> bool:
    twin = proxy.at_once(lambda: proxy.twin(request))
    hub.send(request.raw)
    first = hub.receive()
    answers = [answer for answer in (first, twin()) if answer is not None]
    if not answers:
        raise ConnectionResetError("the hub closed both connections")
    client.send(rng.choice(answers).raw)
    return True


def _pieces(data: bytes) -> Iterator[bytes]:
    size = max(1, len(data) // 4)
    for start in range(0, len(data), size):
        yield data[start : start + size]
        time.sleep(0.01)


FORWARD: Mapping[str, Callable[[Proxy, Wire, Wire, Message, random.Random], bool]] = {
    "before": _before,
    "half": _half,
    "early": _early,
    "after": _after,
    "truncated": _truncated,
    "delayed": _delayed,
    "slow": _slow,
    "duplicated": _duplicated,
}


@contextlib.contextmanager
def proxied(hub: tuple[str, int], history: History, rates: Mapping[str, float]) -> Iterator[Proxy]:
    """Run a proxy to the hub at this address for the block."""
    proxy = Proxy(hub, history, rates)
    thread = threading.Thread(target=proxy.serve, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        proxy.close()
        thread.join()
