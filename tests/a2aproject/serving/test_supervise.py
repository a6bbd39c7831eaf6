"""The greeting: a hub names its addresses once it is ready."""

import threading
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from types import SimpleNamespace
from urllib.parse import urlsplit

import pytest

from a2aproject.serving import supervise
from a2aproject.serving.supervise import Greeting
from tests.support.hub import PATIENCE, served, wait_until
from tests.support.ports import CLOSED

pytestmark = [pytest.mark.processes, pytest.mark.one_database]


class Standard:
    """Standard output: it keeps what is written, and tells when it is flushed."""

    def __init__(self):
        self.written = ""
        self.is_flushed = threading.Event()

    def write(self, text):
        self.written += text

    def flush(self):
        self.is_flushed.set()


class WebServer(HTTPServer):
    """Is ready at the third question. It keeps each path and host, with the text that was printed before."""

    timeout = PATIENCE

    def __init__(self, standard):
        super().__init__(("127.0.0.1", 0), partial(Probe, self), bind_and_activate=False)
        self.server_bind()
        self.standard = standard
        self.asked = []

    def status(self, path, host):
        self.asked.append((path, host, self.standard.written))
        return 503 if len(self.asked) < 3 else 200


class Probe(BaseHTTPRequestHandler):
    def __init__(self, web_server, *args):
        self.web_server = web_server
        super().__init__(*args)

    def do_GET(self):
        self.send_response(self.web_server.status(self.path, self.headers["Host"]))
        self.end_headers()

    def log_message(self, *_):
        pass


def test_the_text_is_printed_once_the_web_server_listens_and_is_ready(monkeypatch):
    standard, waits = Standard(), threading.Semaphore(0)
    server = WebServer(standard)
    is_listening = threading.Event()

    def pause(_):
        waits.release()
        assert is_listening.wait(PATIENCE)

    monkeypatch.setattr(supervise, "sys", SimpleNamespace(stdout=standard))
    monkeypatch.setattr(supervise, "time", SimpleNamespace(sleep=pause))
    Greeting(host="127.0.0.1", port=server.server_port, text="addresses").print_once_ready()
    assert waits.acquire(timeout=PATIENCE)

    with server:
        server.server_activate()
        is_listening.set()
        for _ in range(3):
            server.handle_request()
        assert standard.is_flushed.wait(PATIENCE)

    assert server.asked == [("/readyz", "localhost", "")] * 3
    assert standard.written == "A2A Hub is ready.\naddresses\n"


def test_a_hub_that_does_not_become_ready_says_so_once(monkeypatch):
    standard = Standard()
    pauses: list[float] = []
    monkeypatch.setattr(supervise, "sys", SimpleNamespace(stdout=standard))
    monkeypatch.setattr(supervise, "time", SimpleNamespace(sleep=pauses.append))

    Greeting(host="127.0.0.1", port=CLOSED, text="addresses").print_once_ready()

    assert standard.is_flushed.wait(PATIENCE)
    assert standard.written == "A2A Hub is not ready yet: /readyz says why.\naddresses\n"
    assert len(pauses) == supervise.QUESTIONS


def test_a_served_hub_prints_its_addresses(tmp_path):
    with served(tmp_path) as hub:
        wait_until(lambda: f"  API reference  {hub.url}/api/docs/\n" in hub.printed)

    before, _, _ = hub.printed.partition("A2A Hub is ready.")
    assert hub.url not in before
    assert f"A2A Hub starts on port {urlsplit(hub.url).port}. Stop it with Ctrl-C." in before
