"""Bodies that never arrive, with and without keys. The hub cuts them, and answers all other requests meanwhile."""

import json
import re
import select
import socket
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest

from a2a_hub_client import Answer as Posted
from a2a_hub_client import Hub as Client
from a2a_hub_client import Retry
from a2a_hub_client.errors import UnavailableError, UnreachableError
from a2aproject.web.bodies import HASTE
from tests.load.cast import operator_key, pairs
from tests.support.hub import PATIENCE, Hub, served, wait_until
from tests.support.own_client import client_of

pytestmark = pytest.mark.one_database

WORKERS, THREADS = 2, 64
FEW_THREADS = 8  # of which two may wait for slow bodies
STALLED = 400
CYCLES = 50
ONCE = Retry(patience=0)
STALLED_TEXT = b"The body of the request did not arrive in time. Nothing was changed, so repeat the request.\n"
LENGTH = 1000  # bytes that each stalled request announces


class Kind(NamedTuple):
    """A request whose body stalls."""

    path: str
    has_key: bool = False
    content_type: str = "application/json"


KINDS = (
    Kind("/a2a/tasks", has_key=True),
    Kind("/a2a/tasks"),  # answered with 401
    Kind("/nowhere"),  # answered with 404
    Kind("/ops/sign-in/", content_type="application/x-www-form-urlencoded"),
)


def head(kind: Kind, key: str) -> bytes:
    authorization = f"Authorization: Bearer {key}\r\n" if kind.has_key else ""
    return (
        f"POST {kind.path} HTTP/1.1\r\nHost: localhost\r\n{authorization}"
        f"Content-Type: {kind.content_type}\r\nContent-Length: {LENGTH}\r\n\r\n"
    ).encode()


def stall(hub: Hub, kind: Kind, key: str, *, source: str = "127.0.0.1", body: bytes = b"{") -> socket.socket:
    """Send a request from the address ``source``, whose body ends after its first bytes."""
    parts = urlsplit(hub.url)
    connection = socket.create_connection((parts.hostname, parts.port), PATIENCE, source_address=(source, 0))
    connection.sendall(head(kind, key) + body)
    return connection


@contextmanager
def many_stalled(hub: Hub, key: str, sources: Sequence[str]) -> Iterator[list[socket.socket]]:
    with ExitStack() as stack:
        yield [
            stack.enter_context(stall(hub, KINDS[number % len(KINDS)], key, source=sources[number % len(sources)]))
            for number in range(STALLED)
        ]


def waiting(connections: Sequence[socket.socket]) -> list[socket.socket]:
    """Return the connections without an answer."""
    poll = select.poll()
    for connection in connections:
        poll.register(connection, select.POLLIN)
    answered = {number for number, _ in poll.poll(0)}
    return [connection for connection in connections if connection.fileno() not in answered]


class Answer(NamedTuple):
    status: int
    retry_after: str | None
    body: bytes


def answer_of(connection: socket.socket) -> Answer:
    """Return the answer. The hub ends the connection before the length that the answer announces."""
    read = b""
    while part := connection.recv(65536):
        read += part
    start, _, body = read.partition(b"\r\n\r\n")
    after = re.search(rb"(?i)retry-after: (\d+)", start)
    return Answer(int(start[9:12]), after and after[1].decode(), body)


@pytest.fixture(scope="module")
def hub(tmp_path_factory, migrated_database):
    var = tmp_path_factory.mktemp("hub")
    with (
        migrated_database() as url,
        served(
            var,
            migrates=True,
            database_url=url,
            workers=WORKERS,
            WEB_THREADS=str(THREADS),
            A2A_BODY_TIMEOUT_S="60",
        ) as hub,
    ):
        yield hub


def take_through_life(sender: Client, worker: Client, recipient: str, text: str) -> None:
    sender.send(recipient, text)
    (leased,) = worker.receive(wait=0).leases
    worker.post_result(Posted(task_id=leased.task.id, lease_id=leased.lease.id, content=text))
    (drained,) = sender.drain(wait=0).results
    assert drained.text == text


@pytest.mark.parametrize(
    ("sources", "most"),
    [
        (["127.0.0.1"], WORKERS * THREADS // 4),  # the address of the healthy clients, too
        ([f"127.0.0.{last}" for last in range(2, 22)], WORKERS * THREADS // 4),
    ],
    ids=["one address", "twenty addresses"],
)
def test_requests_are_answered_while_400_bodies_stall(hub, sources, most, record_property):
    (pair,) = pairs(hub, 1)
    times: list[float] = []

    with (
        client_of(hub.url, pair.sender.key, retry=ONCE) as sender,
        client_of(hub.url, pair.worker.key, retry=ONCE) as worker,
        many_stalled(hub, pair.sender.key, sources) as stalled,
        client_of(hub.url, operator_key(hub), retry=ONCE) as operator,
    ):
        if "127.0.0.1" in sources:  # while all bodies of an address arrive at once, the hub may cut any of them
            wait_until(lambda: len(waiting(stalled)) <= most)
        for number in range(CYCLES):
            start = time.perf_counter()
            take_through_life(sender, worker, pair.worker.display, f"task {number}")
            operator.status()
            times.append(time.perf_counter() - start)
        wait_until(lambda: len(waiting(stalled)) <= most)
        left = waiting(stalled)

    assert left  # the bodies stalled until the end
    p99 = sorted(times)[len(times) * 99 // 100]
    record_property("p99_ms", round(p99 * 1000, 1))
    print(f"{len(left)} of {STALLED} bodies stall; p99 of {len(times)} cycles: {p99 * 1000:.1f} ms")  # noqa: T201


def seconds_until_cut(client: Client, recipient: str, text: str) -> float | None:
    """Send a task. Return None if the hub takes it, and otherwise the seconds until it cut the body."""
    start = time.perf_counter()
    try:
        client.send(recipient, text)
    except (UnavailableError, UnreachableError):
        return time.perf_counter() - start
    return None


def test_healthy_clients_that_send_all_at_once_are_answered_by_few_threads(tmp_path, migrated_database):
    with (
        migrated_database() as url,
        served(tmp_path, migrates=True, database_url=url, workers=1, WEB_THREADS=str(FEW_THREADS)) as hub,
        ExitStack() as stack,
    ):
        cast = pairs(hub, 2 * FEW_THREADS)
        clients = [stack.enter_context(client_of(hub.url, pair.sender.key, retry=ONCE)) for pair in cast]
        pool = stack.enter_context(ThreadPoolExecutor(len(cast)))
        sent = []
        for number in range(CYCLES):
            sending = [
                pool.submit(seconds_until_cut, client, pair.worker.display, str(number))
                for client, pair in zip(clients, cast, strict=True)
            ]
            sent += [send.result(PATIENCE) for send in sending]

    # A busy machine may deliver a body so late that the hub cuts it. No body is cut earlier.
    cut = [seconds for seconds in sent if seconds is not None]
    assert not [seconds for seconds in cut if seconds < HASTE]
    assert len(cut) < len(sent) / 2


@pytest.mark.parametrize(
    ("kind", "status", "code"),
    [(KINDS[0], 503, "unavailable"), (KINDS[1], 401, "unauthenticated"), (KINDS[2], 404, "not_found")],
    ids=["api", "401", "404"],
)
def test_a_body_that_does_not_arrive_in_time_is_cut_with_an_answer(impatient, kind, status, code):
    with stall(impatient, kind, operator_key(impatient)) as connection:
        answer = answer_of(connection)

    assert (answer.status, json.loads(answer.body)["code"]) == (status, code)
    assert answer.retry_after == ("1" if status == 503 else None)


def test_a_sign_in_form_that_does_not_arrive_in_time_is_cut_with_a_plain_answer(impatient):
    with stall(impatient, KINDS[3], "", body=b"username=") as connection:
        answer = answer_of(connection)

    assert answer == Answer(503, "1", STALLED_TEXT)


def test_a_body_that_drips_is_cut_as_well(impatient):
    # A byte that is sent after the answer resets the connection.
    with stall(impatient, KINDS[0], operator_key(impatient)) as connection, suppress(ConnectionError):
        while not select.select([connection], [], [], 0.2)[0]:
            connection.sendall(b" ")
        assert answer_of(connection).status == 503


def test_a_cut_request_changes_nothing(impatient):
    (pair,) = pairs(impatient, 1)
    body = json.dumps({"recipient": pair.worker.display, "intent_text": "late"}).encode()
    with stall(impatient, KINDS[0], pair.sender.key, body=body) as connection:  # whole but for spaces at its end
        assert answer_of(connection).status == 503

    with client_of(impatient.url, pair.worker.key) as client:
        assert client.receive(wait=0).leases == []


def test_http_2_without_tls_is_not_served(impatient):
    parts = urlsplit(impatient.url)
    with socket.create_connection((parts.hostname, parts.port), PATIENCE) as connection:
        connection.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(3) + b"\x04" + bytes(5))

        assert connection.recv(9)[:5] in (b"", b"HTTP/")


@pytest.fixture(scope="module")
def impatient(tmp_path_factory, migrated_database):
    var = tmp_path_factory.mktemp("impatient")
    with migrated_database() as url, served(var, migrates=True, database_url=url, A2A_BODY_TIMEOUT_S="1") as hub:
        yield hub
