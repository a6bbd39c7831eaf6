"""An answer counts once it is whole, and only if it is the echo of its message."""

import json
import socket
from contextlib import closing

import pytest

from tools.bench.blocking import Caller

pytestmark = pytest.mark.one_database


def answer(text: str, state: str = "TASK_STATE_COMPLETED") -> bytes:
    task = {"status": {"state": state}, "artifacts": [{"parts": [{"text": text}]}], "history": [{"parts": []}]}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"task": task}}).encode()


def quick(body: bytes) -> list[bytes]:
    return [b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body), body]


def late(body: bytes) -> list[bytes]:
    """Return the parts of an answer with a sign of life before it."""
    head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
    return [head, b"1\r\n \r\n", b"%x\r\n%b\r\n" % (len(body), body), b"0\r\n\r\n"]


@pytest.fixture
def caller():
    here, there = socket.socketpair()
    with closing(here), closing(there):
        made = Caller(here, "POST /a2a HTTP/1.1\r\n", "client 7, message")
        made.ask()
        assert b'"text": "client 7, message 1"' in there.recv(65_536)
        yield made, there


@pytest.mark.parametrize("form", [quick, late])
def test_an_answer_counts_with_its_last_part(caller, form):
    asked, server = caller
    found = []
    for part in form(answer("client 7, message 1")):
        server.sendall(part)
        found.append(asked.is_answered())

    assert found == [False] * (len(found) - 1) + [True]


@pytest.mark.parametrize(
    "body", [answer("client 8, message 1"), answer("client 7, message 1", "TASK_STATE_WORKING"), b'{"error": {}}']
)
def test_another_answer_fails(caller, body):
    asked, server = caller
    server.sendall(b"".join(quick(body)))

    with pytest.raises((AssertionError, KeyError)):
        asked.is_answered()
