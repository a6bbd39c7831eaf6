"""Serves HTTP requests of tests on this machine by the standard library's handlers."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Handler(BaseHTTPRequestHandler):
    """Answers GET and POST alike, by the method `answer`. It prints nothing, and the client may hang up at any time."""

    def handle(self) -> None:
        with suppress(ConnectionError):
            super().handle()

    def do_GET(self) -> None:
        self.answer(self.rfile.read(int(self.headers.get("Content-Length") or 0)))

    do_POST = do_GET  # noqa: N815 (the name of the standard library)

    def answer(self, body: bytes) -> None:
        """Answer a request with this body."""
        raise NotImplementedError

    def send(self, status: int, body: bytes, *headers: tuple[str, str]) -> None:
        self.send_response(status)
        for name, value in (*headers, ("Content-Length", str(len(body)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler], port: int = 0) -> Iterator[str]:
    """Give each connection a thread and a handler until the block ends; yield the URL."""
    server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    server.daemon_threads = True

    def serve() -> None:
        with suppress(OSError):
            while True:
                server.process_request(*server.get_request())

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.socket.shutdown(socket.SHUT_RDWR)
        server.server_close()
