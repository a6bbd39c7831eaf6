"""The requests that still run in the bridge of `a2a mcp` when its stdin ends."""

import asyncio
import json
import os
import subprocess
import sys
import threading
from typing import Any

import pytest

from a2a_hub_client.cli.commands.mcp import Bridge
from a2a_hub_client.credentials import Bearer
from tests.support.bridges import WAIT, pong, stand_in
from tests.support.hub import PATIENCE
from tests.support.terminals import MAIN

__all__ = ["stand_in"]

pytestmark = [pytest.mark.processes, pytest.mark.one_database]


def passed_on(url, *messages):
    """Give the messages to a bridge in this process; return the messages and the notes of the bridge."""
    written: list[bytes] = []
    noted: list[str] = []

    async def lines():
        for message in messages:
            yield json.dumps(message).encode()

    asyncio.run(Bridge(url, Bearer("a2a_k"), write=written.append, note=noted.append).run(lines()))
    return [json.loads(one) for one in written], noted


def call(rpc_id, method="tools/call", **params):
    return {"jsonrpc": "2.0", "id": rpc_id, "method": method, "params": params}


@pytest.mark.processes
def test_a_request_that_runs_for_more_than_a_second_after_the_end_of_stdin_is_answered(stand_in):
    def act(handler, message):
        threading.Event().wait(1.5)
        pong(handler, message)

    assert passed_on(stand_in(act), call(1, "ping")) == ([{"jsonrpc": "2.0", "id": 1, "result": {}}], [])


def test_a_request_that_is_cut_after_the_end_of_stdin_gets_an_error_unless_it_was_cancelled(stand_in, monkeypatch):
    def act(handler, message):
        handler.begin_stream()
        handler.connection.recv(1)

    monkeypatch.setattr("a2a_hub_client.cli.commands.mcp.TO_END", 0.1)
    cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}
    written, noted = passed_on(stand_in(act), call(1, **WAIT), call(2, **WAIT), cancelled, call(3, **WAIT))

    assert [(one["id"], one["error"]["code"]) for one in written] == [(1, -32000), (3, -32000)]
    assert noted == ["no answer within 0.1 s of the end of stdin. The hub may have done what was requested."]


def test_a_host_that_died_ends_its_requests(stand_in):
    begun, ended = threading.Event(), threading.Event()

    def act(handler, message):
        begun.set()
        assert handler.connection.recv(1) == b""
        ended.set()

    own = {"A2A_URL": stand_in(act), "A2A_API_KEY": "a2a_k", "A2A_CONFIG": os.devnull + ".none"}
    piped: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    bridge: Any = subprocess.Popen([sys.executable, "-c", MAIN, "mcp"], env=os.environ | own, **piped)
    with bridge:
        bridge.stdin.write(json.dumps(call(1, **WAIT)).encode() + b"\n")
        bridge.stdin.flush()
        assert begun.wait(PATIENCE)
        bridge.stdin.close()
        bridge.stdout.close()

        assert (bridge.wait(PATIENCE), bridge.stderr.read()) == (0, b"")

    assert ended.wait(PATIENCE)
