"""A follower takes a stream up after its last event, and drops what it has of a row that came in part."""

import itertools
import json
from queue import SimpleQueue
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.support.http_servers import Handler, serving
from tests.support.raw_client import framed
from tools.proof import official
from tools.proof.callbacks import Hooks
from tools.proof.history import History
from tools.proof.official import Follower
from tools.proof.world import Followed

pytestmark = pytest.mark.one_database

LAST = {"statusUpdate": {"status": {"state": "TASK_STATE_COMPLETED"}}}
WORDS: dict[str, Any] = {
    "": {"error": {"code": 503}},
    "2": {"statusUpdate": {}},
    "3": {"statusUpdate": {}},
    "4.1": {"artifactUpdate": {}},
    "4": LAST,
}
FOLLOWED = Followed("task", "worker-1-0@proof", "sender-1-0@proof", "a2a_key")


class Stream(Handler):
    """Answers a subscription with the snapshot and the next events of ``turns``, and hangs up."""

    turns: list[list[str]]
    since: list[str]

    def answer(self, body: bytes) -> None:
        self.since.append(self.headers["Last-Event-ID"])
        self.send_response(200 if self.turns else 404)
        self.end_headers()
        self.wfile.write(b": the hub is here\n\nid: 0\ndata: {}\n\n")
        for event_id in self.turns.pop(0) if self.turns else ():
            named = f"id: {event_id}\n" if event_id else ""
            self.wfile.write(f"{named}data: {json.dumps(WORDS[event_id])}\n\n".encode())


def one_connection_at_a_time() -> SimpleNamespace:
    """Return a module `time` by which the time of a follower is over after its first connection."""
    return SimpleNamespace(monotonic=itertools.count(step=0.75 * official.FOLLOWED_FOR).__next__)


def followed(
    monkeypatch: pytest.MonkeyPatch, turns: list[list[str]], *, is_working: bool = True
) -> tuple[Any, list[str]]:
    """Follow a task by a follower that cuts nothing; return the operation and what each connection went on after."""
    since: list[str] = []
    handler = type("Stream", (Stream,), {"turns": turns, "since": since})
    with serving(handler) as url:
        stage = SimpleNamespace(port=urlsplit(url).port)
        working = SimpleNamespace(is_set=lambda: is_working)
        world: Any = SimpleNamespace(history=History(1), stage=stage, url=url, working=working, followed=SimpleQueue())
        follower = Follower(world, 0)
        monkeypatch.setattr(follower, "pause", lambda _: None)
        monkeypatch.setattr(follower, "random", SimpleNamespace(random=lambda: 1.0))
        follower.follow(FOLLOWED)
        while not world.followed.empty():
            follower.follow(world.followed.get())
    (operation,) = world.history.operations
    return operation, since


def test_a_stream_that_breaks_is_taken_up_after_its_last_event(monkeypatch):
    operation, since = followed(monkeypatch, [["2", "3", ""], ["4.1", "4"], ["2", "3", "4.1", "4"]])

    assert [event_id for event_id, _ in operation.facts["events"]] == ["2", "3", "4.1", "4"]
    assert operation.facts["again"] == operation.facts["events"]
    assert since == ["1", "3", "1"]
    assert operation.is_acknowledged


def test_a_task_that_does_not_end_in_time_is_taken_up_later_after_its_last_event(monkeypatch):
    monkeypatch.setattr(official, "time", one_connection_at_a_time())

    operation, since = followed(monkeypatch, [["2"], ["3"], ["4"], ["2", "3", "4"]])

    assert [event_id for event_id, _ in operation.facts["events"]] == ["2", "3", "4"]
    assert since == ["1", "2", "3", "1"]
    assert operation.is_acknowledged


def test_a_stream_without_the_last_event_is_no_longer_awaited_when_all_work_is_done(monkeypatch):
    monkeypatch.setattr(official, "time", one_connection_at_a_time())
    monkeypatch.setattr(official, "PATIENCE", official.FOLLOWED_FOR)

    operation, since = followed(monkeypatch, [["2"], ["2"]], is_working=False)

    assert [event_id for event_id, _ in operation.facts["events"]] == ["2"]
    assert since == ["1", "1"]
    assert operation.is_acknowledged


def test_a_row_that_came_in_part_is_brought_whole_again(monkeypatch):
    operation, since = followed(monkeypatch, [["2", "3", "4.1"], ["4.1", "4"], ["2", "3", "4.1", "4"]])

    assert [event_id for event_id, _ in operation.facts["events"]] == ["2", "3", "4.1", "4"]
    assert since == ["1", "4.1", "1"]


def test_a_task_that_was_compacted_is_followed_no_more(monkeypatch):
    operation, since = followed(monkeypatch, [["2"]])

    assert operation.status == 404
    assert since == ["1", "2", "1"]


@pytest.mark.parametrize(
    ("read", "expected"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}next", (b"{}", 40)),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{}", None),
        (b"HTTP/1.1 200 OK\r\ncontent-le", None),
        (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", (b"", 27)),
        (b"A\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n \r\n2\r\n{}\r\n0\r\n\r\nnext", (b" {}", 51)),
        (b"A\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n \r\n2\r\n{}\r\n0\r\n", None),
        (b"A\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n \r\n2\r\n{", None),
    ],
)
def test_a_message_ends_by_its_length_or_its_last_chunk(read, expected):
    assert framed(read) == expected


def test_a_webhook_is_over_when_it_has_accepted_the_last_event():
    hooks = Hooks(1)
    hooks.take("/hook", "one", json.dumps({"task": {}}))
    while hooks.take("/hook", "two", json.dumps(WORDS["2"])) != 200:
        pass

    assert not hooks.is_over("/hook")
    while hooks.take("/hook", "three", json.dumps(LAST)) != 200:
        pass
    assert hooks.is_over("/hook")
    assert [call.id for call in hooks.calls["/hook"]][-1] == "three"


def test_a_refused_callback_has_not_come():
    hooks = Hooks(1)
    refused = next(path for path in map("/{}".format, range(100)) if hooks.take(path, "", "{}") == 500)

    assert refused not in hooks.accepted
    assert hooks.take(refused, "", "{}") == 200
    assert refused in hooks.accepted


def test_an_error_that_ends_a_waiting_answer_is_repeated_until_the_task_is_there(monkeypatch):
    answers = iter([(200, {"error": {"code": 503, "status": "UNAVAILABLE"}}), (200, {"task": {"id": "task"}})])
    world: Any = SimpleNamespace(history=History(1), url="http://127.0.0.1:9")
    follower = Follower(world, 0)
    monkeypatch.setattr(follower, "pause", lambda _: None)
    monkeypatch.setattr(follower, "client", SimpleNamespace(call=lambda *_: next(answers)))

    sent = follower.do("send", "POST", "/agents/worker/rest/message:send", {})

    assert [tried.status for tried in sent.tries] == [503, 200]
    assert sent.is_acknowledged
    assert sent.answer == {"task": {"id": "task"}}
