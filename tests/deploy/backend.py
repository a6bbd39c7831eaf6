"""A server in place of the hub, behind a proxy."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, HTTPServer


class Backend:
    """Answers 204, or hangs up without an answer. ``seen`` has the names of the headers that reached it."""

    def __init__(self, *, hangs_up: bool = False) -> None:
        seen = self.seen = set[str]()

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                seen.update(name.lower() for name in self.headers)
                if not hangs_up:
                    self.send_response(204)
                    self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever)

    def __enter__(self) -> Backend:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
