"""The logs of the example proxies hold no secret, with a hub that answers, hangs up or is down."""

import contextlib
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from tests.deploy.backend import Backend
from tests.deploy.proxies import PROGRAMS, Program, Proxy
from tests.support.hub import PATIENCE
from tests.support.ports import CLOSED, lasting_port

pytestmark = [pytest.mark.one_database, pytest.mark.processes]

TOKEN, KEY = "p_s3cret", "a2a_s3cret"
TARGETS = (
    "/p/{token}/a2a/tasks/send",
    "//p/{token}/a2a/tasks/send",
    "/%70/{token}/a2a/tasks/send",
    "/p%2F{token}/a2a/tasks/send",
    "/%2fp/{token}",
    "/a/../p/{token}",
    "/p/{token}?wait_ms=0",
    "/p/{token}/%zz",
    "https://localhost/p/{token}",
)


@contextlib.contextmanager
def upstream(kind: str) -> Iterator[int]:
    """Yield the port of a hub that answers, hangs up or is down."""
    if kind == "down":
        yield CLOSED
        return
    with Backend(hangs_up=kind == "hangs up") as backend:
        yield backend.port


@pytest.fixture(scope="module", params=PROGRAMS, ids=str)
def program(request: Any) -> Program:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture(scope="module", params=["answers", "hangs up", "down"])
def kind(request: Any) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def proxy(program: Program, kind: str, tmp_path_factory: Any) -> Proxy:
    """A proxy that has got every request of this page's tests, and has stopped."""
    folder = tmp_path_factory.mktemp(program.name)
    with upstream(kind) as hub_port, program.running(folder, lasting_port(), hub_port) as proxy:
        for target in TARGETS:
            ask(proxy, "GET", target.format(token=TOKEN))
        ask(proxy, "POST", f"/p/{TOKEN}/a2a/tasks/send", "Content-Length: 1100000")
        ask(proxy, "GET", "/healthz")
    return proxy


def ask(proxy: Proxy, method: str, target: str, *headers: str) -> None:
    """Send a request with exactly this target and without a body, and read the answer to its end."""
    lines = (f"{method} {target} HTTP/1.1", "Host: localhost", f"X-API-Key: {KEY}", "Connection: close", *headers)
    with (
        socket.create_connection(("localhost", proxy.port), timeout=PATIENCE) as plain,
        proxy.trust.wrap_socket(plain, server_hostname="localhost") as connection,
    ):
        connection.sendall("\r\n".join((*lines, "", "")).encode())
        while connection.recv(65536):
            pass


def test_no_log_holds_a_token_of_a_public_route(proxy: Proxy) -> None:
    assert [line for line in proxy.logs().splitlines() if TOKEN in line] == []


def test_no_log_holds_a_key(proxy: Proxy) -> None:
    assert [line for line in proxy.logs().splitlines() if KEY in line] == []


def test_other_requests_and_their_failures_are_logged(proxy: Proxy, kind: str) -> None:
    logged = [line for line in proxy.logs().splitlines() if "/healthz" in line]

    assert len(logged) == (1 if kind == "answers" else 2)
