"""The receiver of callbacks. It refuses some at first, by the seed, so that the hub must repeat them."""

import contextlib
import random
import threading
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

REFUSED_AT_FIRST = 0.15


class Hooks:
    """The callbacks that came: their number by path, without the refused callbacks."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.url = ""
        self.accepted: Counter[str] = Counter()
        self._seen: Counter[str] = Counter()
        self._lock = threading.Lock()

    def take(self, path: str) -> int:
        """Return the status for one more callback at ``path``."""
        with self._lock:
            self._seen[path] += 1
            if self._seen[path] == 1 and random.Random(f"{self.seed} {path}").random() < REFUSED_AT_FIRST:
                return 500
            self.accepted[path] += 1
            return 200


@contextlib.contextmanager
def receiving(seed: int) -> Iterator[Hooks]:
    """Receive callbacks on the loopback for the block."""
    hooks = Hooks(seed)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(hooks.take(self.path))
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
