"""The receiver of callbacks and webhooks. It refuses some at first, by the seed, so that the hub must repeat them."""

import contextlib
import json
import random
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

from tools.proof.official import is_last

REFUSED_AT_FIRST = 0.15


class Call(NamedTuple):
    """One request to a path: the header ``webhook-id``, the status of the answer, and the body."""

    id: str
    status: int
    body: str


class Hooks:
    """The callbacks and the events of webhooks that came, in order, by path. ``accepted`` counts those with 200."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.url = ""
        self.accepted: Counter[str] = Counter()
        self.calls: dict[str, list[Call]] = defaultdict(list)
        self._lock = threading.Lock()

    def is_over(self, path: str) -> bool:
        """Whether the webhook at ``path`` has accepted the last event of its task."""
        return any(call.status == HTTPStatus.OK and is_last(json.loads(call.body)) for call in [*self.calls[path]])

    def take(self, path: str, call_id: str, body: str) -> int:
        """Return the status for one more request at ``path``."""
        with self._lock:
            is_first = all(call.id != call_id for call in self.calls[path])
            is_refused = is_first and random.Random(f"{self.seed} {path} {call_id}").random() < REFUSED_AT_FIRST
            status = 500 if is_refused else 200
            self.calls[path].append(Call(call_id, status, body))
            if not is_refused:
                self.accepted[path] += 1
            return status


@contextlib.contextmanager
def receiving(seed: int) -> Iterator[Hooks]:
    """Receive callbacks on the loopback for the block."""
    hooks = Hooks(seed)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self.send_response(hooks.take(self.path, self.headers.get("webhook-id", ""), body))
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    hooks.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield hooks
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
