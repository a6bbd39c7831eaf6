"""Servers that do their worst: what they are given of the hub's time and memory is bounded."""

from __future__ import annotations

import gzip
import itertools
import threading
import tracemalloc
import zlib
from time import monotonic

import pytest

from mailbox.outbound import destinations, exchange
from mailbox.outbound.errors import ExternalServiceError
from tests.support.hub import PATIENCE
from tests.support.remote_servers import raw_server
from tests.support.wire_tap import tapped

pytestmark = pytest.mark.one_database

OK = b"HTTP/1.1 200 OK\r\n"
MIB = 1024 * 1024


@pytest.fixture(autouse=True)
def _loopback_is_allowed(settings):
    settings.A2A_OUTBOUND_ALLOW = ["127.0.0.0/8"]


def get(url, within=5.0):
    return exchange.exchange("GET", url, within=within, headers={})


def says(*parts):
    """Send the parts and close."""
    return lambda connection, over: [connection.sendall(part) for part in parts]


def with_length(body, *headers):
    head = "".join(f"{line}\r\n" for line in (f"Content-Length: {len(body)}", *headers))
    return says(OK + head.encode() + b"\r\n" + body)


def drip(*beginning):
    """Send the beginning, then a byte now and then for ever: no single read ever waits long."""

    def converse(connection, over):
        for part in beginning:
            connection.sendall(part)
        while not over.wait(0.02):
            connection.sendall(b"x")

    return converse


def hang(connection, over):
    over.wait()


def test_an_answer_is_returned_whole():
    with raw_server(with_length("grüße".encode())) as url:
        answer = get(url)

    assert (answer.status, answer.reason, answer.text, answer.is_success) == (200, "OK", "grüße", True)


@pytest.mark.parametrize(
    "converse",
    [
        hang,
        drip(),
        drip(OK + b"X-Long: "),
        drip(OK + b"Content-Length: 100000\r\n\r\n"),
        drip(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"fffff\r\n"),
        drip(b"HTTP/1.1 100 Continue\r\n\r\n"),
    ],
    ids=["hangs", "drips a status", "drips a header", "drips a body", "drips a chunk", "drips after a continue"],
)
def test_the_deadline_is_for_the_whole_exchange(converse):
    began = monotonic()

    with raw_server(converse) as url, pytest.raises(ExternalServiceError, match=r"within 0\.5 s"):
        get(url, within=0.5)

    assert monotonic() - began < PATIENCE


def test_a_server_that_reads_nothing_does_not_stall_the_hub():
    began = monotonic()

    with raw_server(hang) as url, pytest.raises(ExternalServiceError, match=r"within 0\.5 s"):
        exchange.exchange("POST", url, within=0.5, headers={}, content=b"x" * 64 * MIB)

    assert monotonic() - began < PATIENCE


def test_a_name_that_is_never_resolved_does_not_stall_the_hub(monkeypatch):
    began, answered = monotonic(), threading.Event()
    monkeypatch.setattr(destinations, "addresses", lambda *_: answered.wait(2 * PATIENCE))

    with pytest.raises(ExternalServiceError, match=r"within 0\.3 s"):
        get("http://agent.example", within=0.3)
    answered.set()

    assert monotonic() - began < PATIENCE


def test_an_answer_of_the_largest_size_is_taken_and_a_larger_one_is_not():
    with raw_server(with_length(b"x" * MIB)) as url:
        assert len(get(url).body) == MIB
    with raw_server(with_length(b"x" * (MIB + 1))) as url, pytest.raises(ExternalServiceError, match="larger than"):
        get(url)


def test_a_hundred_megabytes_are_not_read_to_their_end():
    sent = 0

    def converse(connection, over):
        nonlocal sent
        connection.sendall(OK + b"Connection: close\r\n\r\n")
        for _ in range(1600):
            sent += connection.send(b"x" * 65536)

    with raw_server(converse) as url, pytest.raises(ExternalServiceError, match="larger than"):
        get(url)

    assert sent < 50 * MIB


def test_an_endless_answer_ends():
    def converse(connection, over):
        connection.sendall(OK + b"Transfer-Encoding: chunked\r\n\r\n")
        for _ in itertools.takewhile(lambda _: not over.is_set(), itertools.count()):
            connection.sendall(b"10000\r\n" + b"x" * 65536 + b"\r\n")

    with raw_server(converse) as url, pytest.raises(ExternalServiceError, match="larger than"):
        get(url)


@pytest.mark.parametrize(("name", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress)])
def test_a_compressed_answer_is_unpacked_up_to_the_cap(name, pack):
    with raw_server(with_length(pack(b"x" * MIB), f"Content-Encoding: {name}")) as url:
        assert get(url).body == b"x" * MIB
    with (
        raw_server(with_length(pack(b"x" * (MIB + 1)), f"Content-Encoding: {name}")) as url,
        pytest.raises(ExternalServiceError, match="larger than"),
    ):
        get(url)


def test_a_bomb_is_not_unpacked():
    bomb = gzip.compress(b"\0" * 50 * MIB)

    with raw_server(with_length(bomb, "Content-Encoding: gzip")) as url:
        tracemalloc.start()
        with pytest.raises(ExternalServiceError, match="larger than"):
            get(url)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()

    assert peak < 8 * MIB


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip"])
def test_an_encoding_that_was_not_asked_for_is_refused(encoding):
    with (
        raw_server(with_length(b"abc", f"Content-Encoding: {encoding}")) as url,
        pytest.raises(ExternalServiceError, match="not asked for"),
    ):
        get(url)


def test_a_broken_compression_is_no_crash():
    with (
        raw_server(with_length(b"abc", "Content-Encoding: gzip")) as url,
        pytest.raises(ExternalServiceError, match="no answer from"),
    ):
        get(url)


@pytest.mark.parametrize("location", ["http://127.0.0.2:1/", "http://169.254.169.254/latest", "/elsewhere"])
def test_a_redirect_is_not_followed(location):
    answer = f"HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n"

    with raw_server(says(answer.encode())) as url, tapped() as connections:
        assert get(url).status == 302

    assert len(connections) == 1


@pytest.mark.parametrize(
    "nonsense", [b"", b"\x15\x03\x01\x00\x02\x02F", b"HTTP/1.1 999999 x\r\n\r\n", b"SSH-2.0-x\r\n"]
)
def test_a_server_that_speaks_no_http_is_an_error(nonsense):
    with raw_server(says(nonsense)) as url, pytest.raises(ExternalServiceError, match="no answer from"):
        get(url)


def test_a_closed_port_is_an_error():
    with raw_server(hang) as url:
        pass

    with pytest.raises(ExternalServiceError, match="refused"):
        get(url)


def test_a_host_that_cannot_be_spelled_is_an_error():
    with pytest.raises(ExternalServiceError, match="no answer from"):
        get("http://xn--127/")


def test_what_the_library_says_is_not_for_everyone():
    with raw_server(says(OK + b"\r\nunused")) as url, pytest.raises(ExternalServiceError) as failure:
        exchange.exchange("GET", url, within=5, headers={"Authorization": "Bearer sekret\n"})

    assert "sekret" in failure.value.message
    assert failure.value.public_message == f"A2A: no answer from {url}"


def test_the_environment_s_proxy_is_not_used(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")

    with raw_server(with_length(b"direct")) as url:
        assert get(url).body == b"direct"


def test_a_connection_is_kept_for_the_next_exchange():
    def converse(connection, over):
        while True:
            connection.sendall(OK + b"Content-Length: 2\r\n\r\nhi")
            if not connection.recv(65536):
                return

    with raw_server(converse) as url, tapped() as connections:
        assert [get(url).text for _ in range(3)] == ["hi"] * 3

    assert len(connections) == 1
