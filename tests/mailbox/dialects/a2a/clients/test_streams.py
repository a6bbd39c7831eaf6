"""Official clients follow a task by its events. A stream that breaks loses none."""

import httpx
import pytest

from tests.support.clients.player import CHUNKS, LAST_WORDS
from tests.support.clients.readings import Piece, Status, Words, Work
from tests.support.clients.talk import EVERY, NEW

every = pytest.mark.parametrize("sdk", EVERY, ids=str)


def told(events):
    """Return each event as the words that it tells."""
    return [event.text if isinstance(event, Piece) else event.state for event in events]


@every
def test_chunks_come_in_order_and_closing_words_last(talk):
    events = talk.stream("chunks").rest()

    first, *following = events
    assert isinstance(first, Work)
    assert (first.state, first.talk) == ("submitted", [("user", "chunks")])
    assert told(following) == ["working", *CHUNKS, "completed"]
    pieces = [event for event in following if isinstance(event, Piece)]
    assert [(piece.append, piece.last) for piece in pieces] == [(False, False), (True, False), (True, True)]
    assert {piece.artifact for piece in pieces} == {"poem"}
    assert pieces[0].raw["name"] == "A poem"
    assert isinstance(events[-1], Status)
    assert events[-1].text == LAST_WORDS
    assert talk.get(first.id).artifacts == {"poem": "".join(CHUNKS)}


def test_streams_of_all_clients_live_through_eight_seconds_of_silence(stage, javascript_clients):
    streams = [stage.talk(sdk).stream("slow 8") for sdk in EVERY]

    for stream in streams:
        assert told(stream.rest()) == ["submitted", "working", "slow but sure", "completed"]


@every
def test_a_direct_answer_is_the_only_event(talk):
    (event,) = talk.stream("direct").rest()

    assert isinstance(event, Words)
    assert event.text == "Hello yourself."


@every
def test_a_stream_ends_with_a_question(talk):
    assert told(talk.stream("ask").rest()) == ["submitted", "working", "input_required"]


@every
def test_all_streams_of_a_task_tell_the_same(talk, stage, javascript_clients):
    sent = talk.stream("hold")
    (task, *_) = sent.until("working")
    held = stage.player.next_held()
    others = [stage.talk(client).subscribe(task.id) for client in NEW]
    assert {other.next().state for other in others} == {"working"}

    held.update({"message": "first"}, {"artifact": {"content": "x"}}, {"progress": {"fraction": 0.4, "note": ""}})
    held.update({"artifact": {"content": "y"}, "append": True})
    held.succeed("z")

    tellings = [[(told([event]), getattr(event, "text", "")) for event in each.rest()] for each in (sent, *others)]
    assert all(telling == tellings[0] for telling in tellings)
    assert [text for _, text in tellings[0]][:4] == ["first", "x", "40 %", "y"]


@every
def test_a_stream_that_broke_is_taken_up_by_a_subscription(talk, stage):
    sent = talk.stream("hold")
    (task, *_) = sent.until("working")
    held = stage.player.next_held()
    held.update({"artifact": {"artifact_id": "a", "content": "before "}})
    assert sent.next().text == "before "
    sent.drop()

    held.update({"artifact": {"artifact_id": "a", "content": "between "}, "append": True})
    taken_up = talk.subscribe(task.id)
    snapshot = taken_up.next()
    held.update({"artifact": {"artifact_id": "a", "content": "after"}, "append": True, "last_chunk": True})
    held.result(status="ok")

    assert isinstance(snapshot, Work)
    assert (snapshot.state, snapshot.artifacts) == ("working", {"a": "before between "})
    assert told(taken_up.rest()) == ["after", "completed"]


@pytest.mark.parametrize("sdk", NEW, ids=str)
def test_a_client_that_names_its_last_event_gets_every_later_one(talk, stage):
    task = talk.task("chunks")

    with stage.http(A2A_Version="1.0") as http:
        whole = events_of(http, task.id, "0")
        for number, (last, _) in enumerate(whole[1:], 1):
            assert events_of(http, task.id, last)[1:] == whole[number + 1 :]
    again = talk.subscribe(task.id, Last_Event_ID=whole[1][0]).rest()

    assert told(again[1:]) == [*CHUNKS, "completed"]
    assert again[0].state == "working"


def events_of(http: httpx.Client, task_id: str, last: str) -> list[tuple[str, str]]:
    """Subscribe after the event ``last``; return the id and the data of each event."""
    answer = http.post(f"rest/tasks/{task_id}:subscribe", headers={"Last-Event-ID": last})
    assert answer.headers["Content-Type"].startswith("text/event-stream"), answer.text
    fields = [dict(line.split(": ", 1) for line in frame.split("\n") if line[:1] not in ("", ":"))
              for frame in answer.text.split("\n\n")]  # fmt: skip
    return [(frame["id"], frame["data"]) for frame in fields if "data" in frame]
