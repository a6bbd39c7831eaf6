"""Sockets of a test connect in memory, and behave as those of the system do."""

import socket
import sys
import threading

import pytest

from tests.support.http_servers import Handler, serving
from tests.support.wire_tap import tapped

pytestmark = pytest.mark.one_database


@pytest.fixture
def listener():
    with socket.create_server(("127.0.0.1", 0)) as found:
        yield found


def both_ends(listener):
    return socket.create_connection(listener.getsockname()), listener.accept()[0]


def test_a_connection_carries_bytes_both_ways_and_its_halves_end_apart(listener):
    client, server = both_ends(listener)
    with client, server:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client.sendall(b"question")
        client.shutdown(socket.SHUT_WR)
        asked = server.makefile("rb").read()
        server.sendall(b"answer")
        server.close()

        assert (asked, client.recv(100), client.recv(100)) == (b"question", b"answer", b"")


def test_a_peer_that_closes_without_reading_resets_the_connection(listener):
    client, server = both_ends(listener)
    with client:
        client.sendall(b"question")
        server.close()

        with pytest.raises(ConnectionResetError):
            client.recv(100)


def test_a_read_waits_no_longer_than_its_timeout(listener):
    client, server = both_ends(listener)
    with client, server:
        client.settimeout(0.01)

        with pytest.raises(TimeoutError):
            client.recv(100)


def test_nothing_listens_on_a_port_whose_listener_is_closed(listener):
    address = listener.getsockname()
    listener.close()

    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address)


def test_a_port_has_one_listener_at_a_time(listener):
    address = listener.getsockname()
    with pytest.raises(OSError, match="in use"):
        socket.create_server(address)
    listener.close()

    with socket.create_server(address) as next_one:
        assert next_one.getsockname() == address


def test_a_listener_that_is_shut_down_accepts_no_more(listener):
    accepting = threading.Thread(target=pytest.raises, args=(OSError, listener.accept))
    accepting.start()
    listener.shutdown(socket.SHUT_RDWR)
    accepting.join()

    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(listener.getsockname())


def test_no_connection_reaches_the_system(listener):
    seen = []
    sys.addaudithook(lambda event, _: seen.append(event) if event in ("socket.bind", "socket.connect") else None)

    with tapped() as connections:
        client, server = both_ends(listener)
    client.close()
    server.close()

    assert (seen, connections) == ([], [listener.getsockname()])


class Echo(Handler):
    def answer(self, body):
        self.send(200, body)


@pytest.mark.processes
def test_a_test_of_processes_has_ports_of_the_machine():
    with serving(Echo) as url, tapped() as connections:
        port = int(url.rpartition(":")[2])
        socket.create_connection(("127.0.0.1", port)).close()

        assert connections == [("127.0.0.1", port)]
