"""The web server fills the environ of each request from the request alone."""

import socket

import pytest
from granian.server import mp

from a2aproject.serving import connections
from tests.support.pauses import Clock, Patience

pytestmark = pytest.mark.one_database

RESPAWN = "_respawn_workers"  # granian's name of what starts dead workers again
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


class Worker:
    def __init__(self, idx, *, is_running):
        self.idx, self.is_alive = idx, lambda: is_running


class Server:
    """The parent of web workers, which notes its pauses and the workers that it starts again."""

    def __init__(self, *, others_run):
        self.main_loop_interrupt = Patience()
        self.interrupt_signal = False
        self.wrks = [Worker(0, is_running=False), Worker(1, is_running=others_run)]
        self.respawned_wrks, self.started = {}, []

    def lose_a_worker(self):
        getattr(mp.MPServer, RESPAWN)(self, [0])

    def respawn(self, workers, *_):
        self.started += workers
        self.respawned_wrks = dict.fromkeys(workers, 1.0)


@pytest.fixture
def clock(monkeypatch):
    monkeypatch.setattr(mp.MPServer, RESPAWN, Server.respawn)
    monkeypatch.setattr(connections, "time", clock := Clock())
    connections.keep_workers_beside_a_dead_one()
    return clock


def test_a_worker_that_dies_again_and_again_starts_after_growing_pauses_and_ends_no_other(clock):
    server = Server(others_run=True)
    for _ in range(9):
        server.lose_a_worker()
        assert server.respawned_wrks == {}
    clock.now += 10
    server.lose_a_worker()

    assert server.main_loop_interrupt.pauses == [0, 0.5, 1, 2, 4, 8, 16, 30, 30, 0]
    assert server.started == [0] * 10


def test_without_another_worker_the_server_may_end(clock):
    server = Server(others_run=False)
    server.lose_a_worker()

    assert server.respawned_wrks == {0: 1.0}


def test_a_stop_in_a_pause_starts_no_worker(clock):
    server = Server(others_run=True)
    server.interrupt_signal = True
    server.lose_a_worker()

    assert server.started == []
