"""The web server fills the environ of each request from the request alone."""

import socket

import pytest
from granian.server import mp

from a2aproject.serving import connections

pytestmark = pytest.mark.one_database

WRAPPER = "_wsgi_call_wrap"  # granian's name of what makes the callback of a web process


class Handle:
    """The web server's handle of a connection, which takes the answer."""

    def __init__(self):
        self.answers = []

    def response_bytes(self, *answer):
        self.answers.append(answer)


def test_a_requests_environ_holds_its_handle_and_no_environment_variables(monkeypatch):
    monkeypatch.setattr(mp, WRAPPER, getattr(mp, WRAPPER))
    monkeypatch.setenv("HTTP_X_API_KEY", "of the operator")
    seen, handle = {}, Handle()

    def application(environ, start_response):
        seen.update(environ)
        start_response("204 No Content", [])
        return [b""]

    connections.note_in_requests()
    getattr(mp, WRAPPER)(application, {}, None)(handle, {"PATH_INFO": "/healthz"})

    assert seen[connections.HANDLE] is handle
    assert seen["PATH_INFO"] == "/healthz"
    assert seen["wsgi.multithread"] is True
    assert not {"HTTP_X_API_KEY", "PATH"} & seen.keys()
    assert handle.answers == [(204, [], b"")]


@pytest.mark.processes
def test_accepted_connections_end_if_their_client_takes_no_byte_for_so_long():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        assert connections.limit_listeners(7) >= 1

        with socket.create_connection(listener.getsockname()), listener.accept()[0] as accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 7000
