"""The web server fills the environ of each request from the request alone."""

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
