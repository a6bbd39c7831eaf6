"""A receiver of callbacks on the loopback. Tests choose its answers and read the requests it got."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Receiver:
    """Answers with each of ``statuses`` in turn, then with 200. ``extra`` are headers of every answer."""

    def __init__(self) -> None:
        self.url = ""
        self.calls: list[tuple[dict[str, str], bytes]] = []
        self.statuses: list[int] = []
        self.extra: dict[str, str] = {}
        self.body = b"ok"


@contextmanager
def receiver() -> Iterator[Receiver]:
    found = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            found.calls.append((dict(self.headers), body))
            self.send_response(found.statuses.pop(0) if found.statuses else 200)
            for name, value in found.extra.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(found.body)))
            self.end_headers()
            self.wfile.write(found.body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    found.url = f"http://127.0.0.1:{server.server_port}/hook"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
