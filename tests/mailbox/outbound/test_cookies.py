"""A receiver leaves nothing behind in the hub: what it sets in one call never goes out in another."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from uuid import uuid4

import pytest
from django.utils import timezone

from agentcards import client
from mailbox.background import callback_sender
from mailbox.models import PushDelivery
from mailbox.outbound import exchange
from mailbox.outbound.destinations import BaseUrl
from mailbox.outbound.errors import ExternalServiceError

pytestmark = pytest.mark.one_database

COOKIES = ["planted=1; Path=/", *(f"c{number}=x; Path=/; Max-Age=99999" for number in range(50))]


@pytest.fixture
def hostile(settings):
    """Serve a host that sets cookies in every answer. Yield its URL and the headers of the requests that it got."""
    settings.A2A_OUTBOUND_ALLOW = ["127.0.0.0/8"]
    seen = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            seen.append(dict(self.headers))
            self.send_response(200)
            for cookie in COOKIES:
                self.send_header("Set-Cookie", cookie)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        do_POST = do_GET  # noqa: N815 (http.server's spelling)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", seen
    server.shutdown()
    server.server_close()


def callback_to(url):
    now = timezone.now()
    return PushDelivery(delivery_id=uuid4(), url=f"{url}/hook", body="{}", created_at=now, next_attempt_at=now)


def test_no_call_takes_or_sends_a_cookie(hostile):
    url, seen = hostile

    for _ in range(2):
        assert callback_sender.attempt(callback_to(url)).is_success
        exchange.exchange("GET", f"{url}/.well-known/agent-card.json", within=5, headers={})
        with pytest.raises(ExternalServiceError):
            client.submit(BaseUrl(url), "work", skill=None, timeout_ms=1000)

    assert len(seen) == 6
    assert [headers for headers in seen if "Cookie" in headers] == []
