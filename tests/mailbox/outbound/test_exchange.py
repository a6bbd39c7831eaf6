"""Hostile servers: the hub bounds the time and memory that they can take."""

import gzip
import itertools
import threading
import tracemalloc
import zlib

import pytest

from mailbox.outbound import destinations, exchange
from mailbox.outbound.errors import ExternalServiceError, NotReachedError
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
    """Return a conversation that sends the parts and closes the connection."""
    return lambda connection, over: [connection.sendall(part) for part in parts]


def with_length(body, *headers):
    head = "".join(f"{line}\r\n" for line in (f"Content-Length: {len(body)}", *headers))
    return says(OK + head.encode() + b"\r\n" + body)


def hang(connection, over):
    over.wait()


def test_an_answer_is_returned_whole():
    with raw_server(with_length("grüße".encode())) as url:
        answer = get(url)

    assert (answer.status, answer.reason, answer.text, answer.is_success) == (200, "OK", "grüße", True)


@pytest.mark.parametrize(
    "beginning",
    [
        [],
        [OK + b"X-Long: "],
        [OK + b"Content-Length: 100000\r\n\r\n"],
        [OK + b"Transfer-Encoding: chunked\r\n\r\n", b"fffff\r\n"],
        [b"HTTP/1.1 100 Continue\r\n\r\n"],
    ],
    ids=["a status", "a header", "a body", "a chunk", "after a continue"],
)
def test_the_deadline_bounds_the_whole_exchange_with_a_server_that_drips(drip, beginning):
    with raw_server(drip.converse(*beginning)) as url, pytest.raises(ExternalServiceError, match=r"within 5 s"):
        get(url, within=5)


def test_a_server_that_hangs_does_not_stall_the_hub():
    with raw_server(hang) as url, pytest.raises(ExternalServiceError, match=r"within 0\.2 s"):
        get(url, within=0.2)


def test_a_server_that_reads_nothing_does_not_stall_the_hub():
    with raw_server(hang) as url, pytest.raises(ExternalServiceError, match=r"within 0\.2 s"):
        exchange.exchange("POST", url, within=0.2, headers={}, content=b"x" * MIB)


def test_a_name_that_is_never_resolved_does_not_stall_the_hub(monkeypatch):
    answered = threading.Event()
    monkeypatch.setattr(destinations, "addresses", lambda *_: answered.wait())

    with pytest.raises(ExternalServiceError, match=r"within 0\.2 s"):
        get("http://agent.example", within=0.2)
    answered.set()


def test_without_a_free_thread_no_server_is_reached(monkeypatch):
    def start(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)

    with pytest.raises(NotReachedError):
        get("http://agent.example")


def test_the_largest_answer_is_accepted_and_a_larger_one_is_not():
    with raw_server(with_length(b"x" * MIB)) as url:
        assert len(get(url).body) == MIB
    with raw_server(with_length(b"x" * (MIB + 1))) as url, pytest.raises(ExternalServiceError, match="larger than"):
        get(url)


def test_a_large_answer_is_not_read_to_its_end():
    sent = 0

    def converse(connection, over):
        nonlocal sent
        connection.sendall(OK + b"Connection: close\r\n\r\n")
        for _ in range(1600):
            sent += connection.send(b"x" * 65536)

    with raw_server(converse) as url, pytest.raises(ExternalServiceError, match="larger than"):
        get(url)

    assert sent < 50 * MIB


def test_reading_an_endless_answer_ends():
    def converse(connection, over):
        connection.sendall(OK + b"Transfer-Encoding: chunked\r\n\r\n")
        for _ in itertools.takewhile(lambda _: not over.is_set(), itertools.count()):
            connection.sendall(b"10000\r\n" + b"x" * 65536 + b"\r\n")

    with raw_server(converse) as url, pytest.raises(ExternalServiceError, match="larger than"):
        get(url)


@pytest.mark.parametrize(("name", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress)])
def test_the_size_limit_counts_decompressed_bytes(name, pack):
    with raw_server(with_length(pack(b"x" * MIB), f"Content-Encoding: {name}")) as url:
        assert get(url).body == b"x" * MIB
    with (
        raw_server(with_length(pack(b"x" * (MIB + 1)), f"Content-Encoding: {name}")) as url,
        pytest.raises(ExternalServiceError, match="larger than"),
    ):
        get(url)


def test_a_decompression_bomb_takes_little_memory():
    bomb = gzip.compress(b"\0" * 50 * MIB)

    with raw_server(with_length(bomb, "Content-Encoding: gzip")) as url:
        tracemalloc.start()
        with pytest.raises(ExternalServiceError, match="larger than"):
            get(url)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()

    assert peak < 8 * MIB


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip"])
def test_unsupported_content_encodings_are_errors(encoding):
    with (
        raw_server(with_length(b"abc", f"Content-Encoding: {encoding}")) as url,
        pytest.raises(ExternalServiceError, match="unsupported content encoding"),
    ):
        get(url)


def test_broken_compression_is_an_error():
    with (
        raw_server(with_length(b"abc", "Content-Encoding: gzip")) as url,
        pytest.raises(ExternalServiceError, match="no answer from"),
    ):
        get(url)


@pytest.mark.parametrize("left", [1, 9, 20])
@pytest.mark.parametrize(
    ("name", "compress"), [("gzip", gzip.compress), ("deflate", zlib.compress)], ids=["gzip", "deflate"]
)
def test_a_truncated_compressed_answer_is_an_error(name, compress, left):
    whole, encoding = compress(b"an answer that must be whole"), f"Content-Encoding: {name}"

    with raw_server(with_length(whole, encoding)) as url:
        assert get(url).text == "an answer that must be whole"
    with (
        raw_server(with_length(whole[:left], encoding)) as url,
        pytest.raises(ExternalServiceError, match="ends early"),
    ):
        get(url)


def test_an_empty_answer_may_name_a_compression():
    with raw_server(with_length(b"", "Content-Encoding: gzip")) as url:
        assert get(url).body == b""


@pytest.mark.parametrize("location", ["http://127.0.0.2:1/", "http://169.254.169.254/latest", "/elsewhere"])
def test_a_redirect_is_not_followed(location):
    answer = f"HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n"

    with raw_server(says(answer.encode())) as url, tapped() as connections:
        assert get(url).status == 302

    assert len(connections) == 1


@pytest.mark.parametrize(
    "nonsense", [b"", b"\x15\x03\x01\x00\x02\x02F", b"HTTP/1.1 999999 x\r\n\r\n", b"SSH-2.0-x\r\n"]
)
def test_an_answer_that_is_not_http_is_an_error(nonsense):
    with raw_server(says(nonsense)) as url, pytest.raises(ExternalServiceError, match="no answer from"):
        get(url)


def test_a_closed_port_is_an_error():
    with raw_server(hang) as url:
        pass

    with pytest.raises(ExternalServiceError, match="refused"):
        get(url)


def test_an_invalid_host_is_an_error():
    with pytest.raises(ExternalServiceError, match="no answer from"):
        get("http://xn--127/")


def test_library_error_texts_are_only_in_the_private_message():
    with raw_server(says(OK + b"\r\nunused")) as url, pytest.raises(ExternalServiceError) as failure:
        exchange.exchange("GET", url, within=5, headers={"Authorization": "Bearer sekret\n"})

    assert "sekret" in failure.value.message
    assert failure.value.public_message == f"A2A: no answer from {url}"


def test_the_environment_s_proxy_is_not_used(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")

    with raw_server(with_length(b"direct")) as url:
        assert get(url).body == b"direct"


def test_connections_are_reused():
    def converse(connection, over):
        while True:
            connection.sendall(OK + b"Content-Length: 2\r\n\r\nhi")
            if not connection.recv(65536):
                return

    with raw_server(converse) as url, tapped() as connections:
        assert [get(url).text for _ in range(3)] == ["hi"] * 3

    assert len(connections) == 1


def test_a_kept_connection_that_the_server_has_closed_is_not_used_again():
    closed = threading.Event()

    def converse(connection, over):
        connection.sendall(OK + b"Content-Length: 2\r\n\r\nhi")
        connection.close()
        closed.set()

    with raw_server(converse) as url, tapped() as connections:
        assert get(url).text == "hi"
        closed.wait()
        assert get(url).text == "hi"

    assert len(connections) == 2
