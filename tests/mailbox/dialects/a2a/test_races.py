"""Callers, holders and streams of one task at the same instant, in real threads with connections of their own."""

from collections import Counter
from functools import partial

import pytest

from mailbox.life import leasing
from mailbox.models import Message, Task
from mailbox.words.kinds import Kind
from tests.support import factories
from tests.support.a2a import message, results_of, short, state, whole, words_of
from tests.support.races import ROUNDS, answers, assert_journal_is_whole

pytestmark = pytest.mark.django_db(transaction=True)

AT_ONCE = {"configuration": {"returnImmediately": True}}
CONNECTIONS = 6


@pytest.fixture(autouse=True, params=ROUNDS, ids=lambda number: f"round {number + 1}")
def tries_again(request):
    """Run each race more than once, since the winner differs."""


@pytest.fixture(autouse=True)
def _signs_of_life_come_quickly(settings):
    settings.A2A_KEEPALIVE_MS = 20
    settings.A2A_FIRST_WORD_MS = 1


def answered(client, method, params, **headers):
    """Return the result of a call, or the reason of its error."""
    answer = whole(client.response(method, params, **headers))
    return answer["result"] if "result" in answer else answer["error"]["data"][0]["reason"]


def followed(client, method, params, **headers):
    """Return the events of a stream to its end, or the reason of a refusal."""
    response = client.response(method, params, **headers)
    if response.headers["Content-Type"] != "text/event-stream":
        return whole(response)["error"]["data"][0]["reason"]
    return list(results_of(response))


def interrupted(client, holder, words="which?"):
    """Return an interrupted task."""
    sent = client.send()
    holder.take()
    holder.ask(words)
    return sent


def taking(holder):
    """Let the holder lease a task as soon as there is one."""
    holder.lease = leasing.next_task(holder.caller, wait=None)
    assert holder.lease is not None


def test_two_answers_to_one_question_are_both_kept_and_lease_once(client, holder):
    sent = interrupted(client, holder)

    outcomes = answers(
        *[lambda words=words: client.send(words, taskId=sent["id"]) for words in ("the first", "the second")]
    )

    assert [state(task) for task in outcomes] == ["SUBMITTED"] * 2
    history = words_of(client.get(sent["id"])["history"])
    assert sorted(history[2:]) == ["the first", "the second"]
    assert holder.take().turn == 3
    assert leasing.lease_tasks(holder.caller) == []
    assert_journal_is_whole()


def test_an_answer_against_a_cancel_leaves_the_task_canceled_on_every_view(client, holder):
    sent = interrupted(client, holder)
    body = {"message": message("this", taskId=sent["id"])}
    watched = {"id": sent["id"]}

    said, cancelled, events = answers(
        lambda: answered(client, "SendMessage", body),
        lambda: answered(client, "CancelTask", watched),
        lambda: followed(client, "SubscribeToTask", watched),
    )

    assert state(cancelled) == "CANCELED"
    assert said == "UNSUPPORTED_OPERATION" or state(said["task"]) == "CANCELED"
    assert events == "UNSUPPORTED_OPERATION" or short(events[-1][1])[0].endswith("CANCELED")
    assert state(client.get(sent["id"])) == "CANCELED"
    assert state(client.rpc("CancelTask", watched)) == "CANCELED"
    assert leasing.lease_tasks(holder.caller) == []
    assert_journal_is_whole()


def test_a_subscription_against_the_last_event_is_refused_or_shows_it(client, holder):
    sent = client.send()
    holder.take()
    holder.tell("reading")
    subscribe = partial(followed, client, "SubscribeToTask", {"id": sent["id"]})

    *streams, _ = answers(*[subscribe] * CONNECTIONS, partial(holder.answer, "done"))

    for events in streams:
        if events != "UNSUPPORTED_OPERATION":
            words = [short(result)[0] for _, result in events]
            assert words in (["Task WORKING", "result", "COMPLETED"], ["Task COMPLETED"])
            assert events[-1][0] == "4"


def test_every_stream_shows_the_same_events_while_the_holder_posts_them(client, holder):
    sent = client.send()
    holder.take()

    def work():
        for number in range(5):
            holder.make(str(number), append=number > 0)
        holder.answer(None)

    since_the_start = partial(followed, client, "SubscribeToTask", {"id": sent["id"]}, **{"Last-Event-ID": "1"})
    *streams, _ = answers(*[since_the_start] * CONNECTIONS, work)

    assert [short(result) for _, result in streams[0]] == [
        ["Task SUBMITTED"],
        ["WORKING"],
        *[["report", str(number)] for number in range(5)],
        ["COMPLETED"],
    ]
    assert all(events == streams[0] for events in streams)


def test_a_lease_against_a_message_gives_the_holder_both_messages(client, holder):
    sent = client.send("first")

    # A message locks its task for a moment, in which a lease on PostgreSQL takes none. So the holder waits.
    said, _ = answers(lambda: client.send("second", taskId=sent["id"]), partial(taking, holder))

    assert state(said) in ("SUBMITTED", "WORKING")
    task = holder.lease.task
    assert str(task.uuid) == sent["id"]
    assert leasing.heartbeat(holder.caller, task.uuid).task.turn == 2
    assert words_of(client.get(sent["id"])["history"]) == ["first", "second"]
    assert_journal_is_whole()


def test_a_second_blocking_message_waits_for_its_own_outcome(client, holder):
    sent = interrupted(client, holder, "which?")

    def ask_again():
        taking(holder)
        holder.ask("and which colour?")

    answer, _ = answers(lambda: client.send("the blue one", now=False, taskId=sent["id"]), ask_again)

    assert short({"task": answer}) == ["Task INPUT_REQUIRED", "and which colour?"]
    assert words_of(answer["history"]) == ["do it", "which?", "the blue one"]


def test_blocking_answers_at_once_all_get_the_outcome(client, holder):
    sent = interrupted(client, holder)

    def complete():
        taking(holder)
        holder.answer("done")

    *outcomes, _ = answers(
        *[
            lambda words=words: answered(client, "SendMessage", {"message": message(words, taskId=sent["id"])})
            for words in ("one", "two")
        ],
        complete,
    )

    seen = [one if isinstance(one, str) else state(one["task"]) for one in outcomes]
    assert "COMPLETED" in seen
    assert set(seen) <= {"COMPLETED", "UNSUPPORTED_OPERATION"}


def test_an_answer_while_the_agent_goes_on_by_itself_is_not_lost(client, holder):
    sent = interrupted(client, holder)
    task = Task.objects.get(uuid=sent["id"])

    def go_on():
        holder.lease = leasing.lease_task(holder.caller, task.uuid)
        holder.answer("done")

    said, _ = answers(lambda: answered(client, "SendMessage", {"message": message("this", taskId=sent["id"])}), go_on)

    spoken = words_of(client.get(sent["id"])["history"])
    assert ("this" in spoken) == (said != "UNSUPPORTED_OPERATION")
    assert state(client.get(sent["id"])) == "COMPLETED"


def test_one_key_from_many_connections_makes_one_task_and_one_answer(client, holder):
    body, key = {"message": message("once")}, {"Idempotency-Key": "k"}

    def complete():
        taking(holder)
        holder.answer("done")

    *sent, _ = answers(
        *[partial(answered, client, "SendMessage", body, **key)] * CONNECTIONS,
        *[partial(answered, client, "SendMessage", body | AT_ONCE, **key)] * 2,
        complete,
    )

    (task_id,) = {one["task"]["id"] for one in sent}
    assert [state(one["task"]) for one in sent[:CONNECTIONS]] == ["COMPLETED"] * CONNECTIONS
    assert client.rpc("ListTasks")["totalSize"] == 1
    assert client.error("SendMessage", {"message": message("other")}, **key) == (-32602, "INVALID_PARAMS")
    assert factories.life_of(Task.objects.get(uuid=task_id)).count(Kind.TASK_SENT) == 1


def test_one_key_from_many_streams_makes_one_task_that_all_of_them_show(client, holder):
    body, key = {"message": message("once")}, {"Idempotency-Key": "k"}

    def complete():
        taking(holder)
        holder.answer("done")

    *streams, _ = answers(*[partial(followed, client, "SendStreamingMessage", body, **key)] * CONNECTIONS, complete)

    assert [short(result) for _, result in streams[0]] == [
        ["Task SUBMITTED"],
        ["WORKING"],
        ["result", "done"],
        ["COMPLETED"],
    ]
    assert all(events == streams[0] for events in streams)
    assert Task.objects.count() == 1


def test_one_key_of_an_answer_from_many_connections_is_one_message(client, holder):
    sent = interrupted(client, holder)
    body = {"message": message("this", taskId=sent["id"])} | AT_ONCE

    said = answers(*[partial(answered, client, "SendMessage", body, **{"Idempotency-Key": "k"})] * CONNECTIONS)

    assert Counter(state(one["task"]) for one in said) == {"SUBMITTED": CONNECTIONS}
    assert Message.objects.of_role(Message.Role.USER).count() == 1
    assert holder.take().turn == 2
