import pytest
from hypothesis import given
from hypothesis import strategies as st

from mailbox.outbound import event_streams
from mailbox.outbound.errors import AnswerTooLargeError, NoAnswerError
from tests.support.remote_servers import raw_server

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nConnection: close\r\n\r\n"


@pytest.fixture(autouse=True)
def _may_call_this_machine(settings):
    settings.A2A_OUTBOUND_ALLOW = ["127.0.0.0/8"]


def sends(data):
    return lambda connection, over: connection.sendall(data)


def read(url, *, within=5.0, largest=1000):
    with event_streams.opened("GET", url, within=within, headers={}, content=None, largest=largest) as stream:
        return [(event.kind, event.data) for event in stream.events()]


@pytest.mark.parametrize(
    ("text", "events"),
    [
        (b"data: a\n\ndata: b\n\n", [("message", "a"), ("message", "b")]),
        (b"data: a\r\n\r\ndata: b\r\rdata:c\n\n", [("message", "a"), ("message", "b"), ("message", "c")]),
        (b": comment\n\nid: 3\nevent: error\ndata: a\ndata:  b\n\n", [("error", "a\n b")]),
        (b"event: none\n\ndata: a\n\n", [("message", "a")]),
        (b"data: a\n\ndata: cut", [("message", "a")]),
        ("data: é\n\n".encode(), [("message", "é")]),
        (b"data: \xff\n\n", [("message", "\ufffd")]),
    ],
)
def test_events_are_read(text, events):
    with raw_server(sends(HEAD + text)) as url:
        assert read(url) == events


@given(st.lists(st.sampled_from(["data: é", "\r", "\n", "\r\n", "x"]), max_size=12), st.data())
def test_lines_do_not_depend_on_where_the_chunks_are_cut(pieces, data):
    text = "".join(pieces).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    chunks = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]

    assert list(event_streams._lines(iter(chunks))) == list(event_streams._lines(iter([text])))


def test_a_stream_that_is_too_large_ends(monkeypatch):
    monkeypatch.setattr(event_streams, "LARGEST_STREAM", 100)
    with raw_server(sends(HEAD + b"data: aaaaaaaa\n\n" * 20)) as url, pytest.raises(AnswerTooLargeError):
        read(url)


def test_the_time_bounds_a_stream_that_goes_on(drip):
    with raw_server(drip.converse(HEAD, drop=b": more\n\n")) as url, pytest.raises(NoAnswerError) as failure:
        read(url, within=5)

    assert failure.value.timed_out
    assert drip.seconds >= 5


def test_an_answer_of_another_type_is_read_whole():
    answer = b"HTTP/1.1 400 Bad\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
    with (
        raw_server(sends(answer)) as url,
        event_streams.opened("GET", url, within=5, headers={}, content=None, largest=10) as stream,
    ):
        assert not stream.is_stream
        whole = stream.whole()

    assert (whole.status, whole.body) == (400, b"{}")
