from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tools.fuzz import requests
from tools.fuzz.requests import Sender

pytestmark = [pytest.mark.processes, pytest.mark.one_database]

ANSWER = {"200": {"description": "", "content": {"application/json": {"schema": {"type": "object"}}}}}
DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "t", "version": "1"},
    "paths": {f"/{name}": {"get": {"responses": ANSWER}} for name in ("silent", "good", "broken", "other")},
}
ANSWERS = {"/api/schema/": (200, DOCUMENT), "/good": (200, {}), "/broken": (500, {}), "/other": (200, [])}


class Answering(BaseHTTPRequestHandler):
    released = threading.Event()

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path not in ANSWERS:
            self.released.wait(20)
        status, value = ANSWERS.get(path, (200, {}))
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Print nothing."""


@pytest.fixture
def url() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Answering) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        Answering.released.set()
        server.shutdown()


def test_a_server_error_an_undocumented_answer_and_silence_are_defects(url, monkeypatch):
    monkeypatch.setattr(requests, "PATIENCE", 1.0)
    sender = Sender(url, {"agent": None}, ["bob"], seed=1)

    sender.send(3)

    defects = " ".join(sender.answers.defects)
    assert "GET /good" not in defects
    assert "GET /broken: " in defects
    assert "GET /other: " in defects
    assert "no answer within 1 s: GET /silent" in defects
    assert sender.answers.statuses.keys() == {200, 500}
