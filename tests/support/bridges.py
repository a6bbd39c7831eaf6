"""The bridge of `a2a mcp` for tests: the host that starts it, and a hub that answers as a test wants."""

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.support.hub import PATIENCE
from tests.support.terminals import MAIN

WAIT = {"name": "receive_task", "arguments": {"wait_ms": 50_000}}


class Host:
    """A program that has started the bridge."""

    def __init__(self, url, key, *words):
        own = {"A2A_URL": url, "A2A_API_KEY": key, "A2A_CONFIG": os.devnull + ".none"}
        self.process: Any = subprocess.Popen(
            [sys.executable, "-c", MAIN, "mcp", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | own,
        )
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            self._lines.put(line)

    def write(self, line):
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def send(self, method, rpc_id=None, **params):
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        self.write(json.dumps(message if rpc_id is None else message | {"id": rpc_id}).encode())

    def receive(self):
        """Return the next message, which is all that its line holds."""
        return json.loads(self._lines.get(timeout=PATIENCE))

    def close(self, *, by=None):
        """Close stdin, then send the signal ``by``; return the exit code, and what was not received yet."""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        if by is not None:
            self.process.send_signal(by)
        code = self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        return code, [self._lines.get_nowait() for _ in range(self._lines.qsize())]


@pytest.fixture
def host():
    """Return a function that starts the bridge. It is killed at the end."""
    started = []

    def start(url, key="a2a_k", *words):
        started.append(Host(url, key, *words))
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        one.close()
        one.process.stdout.close()
        one.process.stderr.close()


class StandIn(BaseHTTPRequestHandler):
    """A hub that answers as its server's ``act`` says, which gets this handler and the message."""

    protocol_version = "HTTP/1.1"
    server: Any

    def do_POST(self):
        self.body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.act(self, json.loads(self.body))

    def answer(self, body, *, status=200, media_type="application/json"):
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def begin_stream(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()

    def say(self, **message):
        self.wfile.write(b"event: message\ndata: %b\n\n" % json.dumps({"jsonrpc": "2.0", **message}).encode())

    def say_progress(self, message, note):
        params = {"progressToken": message["params"]["_meta"]["progressToken"], "progress": 1, "message": note}
        self.say(method="notifications/progress", params=params)

    def log_message(self, *_):
        pass


@pytest.fixture
def stand_in():
    """Return a function that starts a hub with this ``act``, and returns its URL."""
    servers = []

    def start(act):
        server: Any = ThreadingHTTPServer(("127.0.0.1", 0), StandIn)
        server.daemon_threads, server.act = True, act
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def pong(handler, message):
    handler.answer(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {}}, indent=2).encode())
