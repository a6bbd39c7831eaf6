"""Streams of events. The test is the worker, too: it acts between the events that it reads."""

import json

import pytest
from django.utils import timezone

from mailbox.access.limits import own_limits, waits
from mailbox.database import waiting
from mailbox.database.bell import waiters
from mailbox.models import ApiKey
from mailbox.words.conversation import UpdateStatus
from tests.support.a2a import frames, hang_up, message, short, state, whole

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _signs_of_life_come_quickly(settings):
    settings.A2A_KEEPALIVE_MS = 10
    settings.A2A_FIRST_WORD_MS = 1


def begin(client, **members):
    return client.stream("SendStreamingMessage", {"message": message("report", **members)})


def seen(stream, count):
    return [(position, short(result)) for position, result in (next(stream) for _ in range(count))]


def test_a_stream_begins_with_the_task_and_shows_each_event_to_the_end(client, holder):
    stream = begin(client)
    assert seen(stream, 1) == [("1", ["Task SUBMITTED"])]

    holder.take()
    holder.tell("reading")
    holder.make("a")
    holder.make("b", append=True, last_chunk=True)
    holder.answer("done")

    assert [(position, short(result)) for position, result in stream] == [
        ("2", ["WORKING"]),
        ("3", ["WORKING", "reading"]),
        ("4", ["report", "a"]),
        ("5", ["report", "b"]),
        ("6.1", ["result", "done"]),
        ("6", ["COMPLETED"]),
    ]


def test_a_stream_of_a_message_ends_with_a_question_and_the_next_begins_at_its_answer(client, holder):
    stream = begin(client)
    ((_, first),) = [next(stream)]
    holder.take()
    holder.ask("which?")
    assert [short(result) for _, result in stream] == [["WORKING"], ["INPUT_REQUIRED", "which?"]]

    second = begin(client, taskId=first["task"]["id"])
    assert seen(second, 1) == [("4", ["Task SUBMITTED"])]
    holder.take()
    holder.answer(None, error_message="no", status="error")
    assert [short(result) for _, result in second] == [["WORKING"], ["FAILED", "no"]]


def test_a_subscription_goes_through_questions(client, holder):
    sent = client.send()
    holder.take()
    stream = client.stream("SubscribeToTask", {"id": sent["id"]})
    assert seen(stream, 1) == [("2", ["Task WORKING"])]
    holder.ask("which?")
    client.send("this", taskId=sent["id"])
    holder.take()
    holder.answer(None)

    assert [short(result) for _, result in stream] == [
        ["INPUT_REQUIRED", "which?"],
        ["SUBMITTED"],
        ["WORKING"],
        ["COMPLETED"],
    ]


def test_all_streams_of_a_task_show_the_same_events(client, holder):
    sent = client.send()
    streams = [client.stream("SubscribeToTask", {"id": sent["id"]}) for _ in range(3)]
    for stream in streams:
        next(stream)
    holder.take()
    holder.make("a")
    holder.answer(None)

    first, *others = [list(stream) for stream in streams]
    assert len(first) == 3
    assert others == [first, first]


def test_a_stream_goes_on_after_the_last_event_that_its_client_saw(client, holder):
    sent = client.send()
    holder.take()
    holder.tell("one")
    holder.tell("two")
    holder.answer("done")

    for last in ("1", "2", "3", "4", "5.1", "5"):
        again = client.events("SubscribeToTask", {"id": sent["id"]}, **{"Last-Event-ID": last})
        whole_row = "4" if last == "5.1" else last
        assert again[0][0] == whole_row
        positions = [position for position, _ in again[1:]]
        everything = ["2", "3", "4", "5.1", "5"]
        assert positions == everything[everything.index(whole_row) + 1 if whole_row != "1" else 0 :]


@pytest.mark.parametrize("malformed", ["x", "1.2", "-1"])
def test_other_ids_of_events_are_invalid(client, malformed):
    sent = client.send()

    assert client.error("SubscribeToTask", {"id": sent["id"]}, **{"Last-Event-ID": malformed})[0] == -32602


def test_a_task_that_has_ended_has_no_subscription_without_an_event_id(client, holder):
    sent = client.send()
    holder.take()
    holder.answer()

    assert client.error("SubscribeToTask", {"id": sent["id"]}) == (-32004, "UNSUPPORTED_OPERATION")


def test_a_direct_answer_is_the_only_event(client, holder, settings):
    settings.A2A_FIRST_WORD_MS = 60_000
    response = client.response("SendStreamingMessage", {"message": message("quick?")})
    chunks = frames(response)
    assert "" in next(chunks)
    holder.take()
    holder.answer("yes", direct=True)
    data = [json.loads(frame["data"]) for frame in chunks if "data" in frame]

    assert [short(one["result"]) for one in data] == [["message", "yes"]]


def test_a_repeated_key_streams_the_task_from_its_message_on(client, holder):
    body = {"message": message("once")}
    stream = client.stream("SendStreamingMessage", body, **{"Idempotency-Key": "k"})
    next(stream)
    stream.close()
    holder.take()
    holder.answer(None)

    again = client.events("SendStreamingMessage", body, **{"Idempotency-Key": "k"})
    assert [short(result) for _, result in again] == [["Task SUBMITTED"], ["WORKING"], ["COMPLETED"]]


def test_a_silent_stream_shows_signs_of_life(client):
    response = client.response("SendStreamingMessage", {"message": message()})
    found = frames(response)
    assert "" in next(found)
    assert "id" in next(frame for frame in found if "" not in frame)
    assert "" in next(found)
    hang_up(response)


def test_a_closed_stream_gives_its_seat_back(client):
    response = client.response("SendStreamingMessage", {"message": message()})
    assert waiting.seats.taken == 1
    hang_up(response)

    assert waiting.seats.taken == 0


def test_without_a_free_seat_a_stream_is_refused_and_nothing_is_sent(client, settings):
    settings.WEB_THREADS = 1
    response = client.response("SendStreamingMessage", {"message": message()})

    assert (response.status_code, response.headers["Retry-After"]) == (503, "1")
    assert response.json()["error"]["code"] == -32000
    assert client.rpc("ListTasks")["totalSize"] == 0


def test_a_stream_beyond_its_longest_time_ends_between_two_events(client, settings):
    settings.A2A_STREAM_LIMIT_MS = 1

    assert [short(result) for _, result in begin(client)] == [["Task SUBMITTED"]]


def test_a_process_that_stops_ends_its_streams(client, monkeypatch):
    stream = begin(client)
    next(stream)
    monkeypatch.setattr(waiters, "has_ended", lambda: True)

    assert list(stream) == []


def test_a_stream_ends_with_an_error_once_its_key_was_revoked(client):
    response = client.response("SendStreamingMessage", {"message": message()})
    found = frames(response)
    next(found)
    ApiKey.objects.update(revoked_at=timezone.now())
    waits.end_without_key()
    *_, last = found

    assert last["event"] == "error"
    assert json.loads(last["data"])["error"]["code"] == -32000


@pytest.mark.parametrize("rpc_id", ["text", 7, None])
def test_each_event_has_the_id_of_its_call(client, rpc_id):
    response = client.response("SendStreamingMessage", {"message": message()}, rpc_id=rpc_id)
    answer = json.loads(next(frame for frame in frames(response) if "" not in frame)["data"])
    hang_up(response)

    assert (answer["jsonrpc"], answer["id"], "task" in answer["result"]) == ("2.0", rpc_id, True)


def test_a_stream_is_kept_and_held_back_by_no_proxy(client):
    response = client.response("SendStreamingMessage", {"message": message()})
    hang_up(response)

    assert response.headers["Content-Type"] == "text/event-stream"
    assert response.headers["Cache-Control"] == "no-store"
    assert response.headers["X-Accel-Buffering"] == "no"


def test_a_stream_whose_neighbour_reads_the_last_event_first_shows_it(client, holder, monkeypatch):
    """The other stream reads the last rows at the moment at which this one has shown all that it knew of."""
    sent = client.send()
    holder.take()
    first, second = (client.stream("SubscribeToTask", {"id": sent["id"]}) for _ in range(2))
    next(first)
    next(second)
    is_over, ends = vars(waits.Vigil)["is_over"], [holder.answer, lambda: list(second)]

    def meanwhile(vigil):
        while ends:
            ends.pop(0)()
        return is_over.fget(vigil)

    monkeypatch.setattr(waits.Vigil, "is_over", property(meanwhile))

    assert [short(result)[0] for _, result in first] == ["result", "COMPLETED"]


# ---- waiting for an answer


@pytest.mark.parametrize("changes_often", [False, True])
def test_a_silent_answer_shows_signs_of_life_and_is_json(client, settings, monkeypatch, changes_often):
    settings.A2A_BLOCKING_WAIT_MS = 500
    monkeypatch.setattr("mailbox.dialects.a2a.sending.QUICK", 0.01)
    if changes_often:
        monkeypatch.setattr(waits.Vigil, "wait", lambda self, seconds: True)
    response = client.response("SendMessage", {"message": message()})

    assert response.streaming
    body = b"".join(response.streaming_content)
    assert body.startswith(b" ")
    assert state(json.loads(body)["result"]["task"]) == "SUBMITTED"


def test_without_a_free_seat_a_message_is_answered_with_the_task_as_it_is(client, settings):
    settings.WEB_THREADS = 1
    answer = whole(client.response("SendMessage", {"message": message()}))

    assert state(answer["result"]["task"]) == "SUBMITTED"


def test_beyond_its_waits_an_agent_is_answered_with_the_task_as_it_is(client, settings):
    settings.A2A_QUOTA_WAITS = 0
    own_limits.forget()
    try:
        assert state(whole(client.response("SendMessage", {"message": message()}))["result"]["task"]) == "SUBMITTED"
        response = client.response("SendStreamingMessage", {"message": message()})
        assert response.status_code == 429
    finally:
        own_limits.forget()


@pytest.mark.django_db(transaction=True)  # another thread looks for the end of the wait
@pytest.mark.parametrize(
    ("status", "seen"),
    [(UpdateStatus.INPUT_REQUIRED, "INPUT_REQUIRED"), (UpdateStatus.AUTH_REQUIRED, "AUTH_REQUIRED")],
)
def test_a_question_ends_the_wait_for_the_answer(client, holder, monkeypatch, status, seen):
    monkeypatch.setattr("mailbox.dialects.a2a.sending.QUICK", 0.01)
    chunks = iter(client.response("SendMessage", {"message": message()}).streaming_content)
    assert next(chunks) == b" "
    holder.take()
    holder.ask("which?", status)

    assert state(json.loads(b"".join(chunks))["result"]["task"]) == seen
