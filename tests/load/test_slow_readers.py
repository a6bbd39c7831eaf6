"""Clients that do not read what they requested. The hub holds little for them, and gives it back."""

import socket
from contextlib import ExitStack
from urllib.parse import urlsplit

import httpx
import pytest

from a2a_hub_client import Hub as Client
from tests.load.cast import pairs
from tests.support.hub import PATIENCE, Hub, served, wait_until
from tests.support.own_client import client_of

pytestmark = [pytest.mark.one_database, pytest.mark.processes]

READERS, TASKS, SIZE = 200, 6, 900_000
THREADS, STRANGERS = 64, 100
MOST_GROWN, MOST_KEPT = 200, 150  # megabytes


def memory(hub: Hub) -> int:
    return sum(worker.memory_info().rss for worker in hub.web_workers()) // 1_000_000


def unread(hub: Hub, key: str) -> socket.socket:
    """Request a page of 3.6 MB, and read nothing."""
    parts = urlsplit(hub.url)
    connection = socket.create_connection((parts.hostname, parts.port))
    connection.sendall(
        f"GET /a2a/tasks/recent?limit=1000 HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n\r\n".encode()
    )
    return connection


def unread_document(hub: Hub) -> socket.socket:
    """Request a document of a megabyte without a key, and read nothing. The system's buffers take little of it."""
    parts = urlsplit(hub.url)
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
    connection.connect((parts.hostname, parts.port))
    connection.sendall(b"GET /api/schema/ HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return connection


def is_answered(connection: socket.socket) -> bool:
    try:
        return bool(connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT))
    except BlockingIOError:
        return False


def fill(sender: Client, recipient: str) -> None:
    for number in range(TASKS):
        sender.send(recipient, f"{number} {'x' * SIZE}")


def test_200_unread_pages_take_less_than_200_megabytes_and_give_them_back(tmp_path, record_property):
    with served(tmp_path, migrates=True, workers=2) as hub:
        (pair,) = pairs(hub, 1)
        with client_of(hub.url, pair.sender.key) as sender:
            fill(sender, pair.worker.display)
            before = memory(hub)
            with ExitStack() as stack:
                readers = [stack.enter_context(unread(hub, pair.sender.key)) for _ in range(READERS)]
                wait_until(lambda: all(map(is_answered, readers)), every=0.5)
                record_property("at_once", memory(hub) - before)
                wait_until(lambda: memory(hub) - before < MOST_GROWN, every=0.5)
                record_property("held", memory(hub) - before)
            wait_until(lambda: memory(hub) - before < MOST_KEPT, every=0.5)
            record_property("kept", memory(hub) - before)
            sender.send(pair.worker.display, "after all readers left")


def test_strangers_who_do_not_read_leave_threads_to_others(tmp_path):
    with served(tmp_path, WEB_THREADS=str(THREADS)) as hub, ExitStack() as stack:
        for _ in range(STRANGERS):
            stack.enter_context(unread_document(hub))
        assert httpx.get(f"{hub.url}/healthz", timeout=PATIENCE).is_success
