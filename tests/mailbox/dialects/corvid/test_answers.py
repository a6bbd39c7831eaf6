"""The messages in the answer to a poll. Clients poll every few seconds, so the answer must stay small."""

import orjson
import pytest

from mailbox.dialects.corvid import handler, wire
from mailbox.life import expiry, leasing, results, updates
from mailbox.models import Lease
from mailbox.words.conversation import Update
from mailbox.words.envelopes import ResultStatus
from tests.support import factories

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("default_agent"), pytest.mark.one_database]

LIMIT = 1_000_000  # bytes, under the 1 MiB that clients read


def read(caller, task_id):
    task = handler.handle_task_get(caller, task_id)
    assert task is not None
    return task


@pytest.fixture
def polled(alice, bob):
    """Send a task, lease it and have its holder say these texts; return what the sender sees."""

    def poll(*texts, sent="do it", **answer):
        uuid = handler.handle_task_send(alice, {"message": sent})["id"]
        [lease] = leasing.lease_tasks(bob)
        for number in range(0, len(texts), updates.MAX_UPDATES):
            batch = [Update(message=[text_block(text)]) for text in texts[number : number + updates.MAX_UPDATES]]
            updates.post_updates(bob, uuid, batch)
        if answer:
            results.post_result(bob, factories.result_envelope(lease.task, **answer))
        task = read(alice, uuid)
        assert len(orjson.dumps(task)) < LIMIT
        return [(message["role"], message["parts"][0]["text"]) for message in task["messages"]]

    return poll


def text_block(text):
    return {"type": "text", "text": text}


@pytest.mark.parametrize("filler", ["x" * 9_000, "\u00fc" * 4_500, "\x01" * 1_500, '"' * 4_500])
def test_of_many_messages_the_newest_are_shown(polled, filler):
    texts = [f"{number} {filler}" for number in range(300)]

    shown = polled(*texts)

    assert shown[:2] == [("user", "do it"), ("agent", wire.EARLIER)]
    assert [text for _, text in shown[2:]] == texts[-len(shown[2:]) :]
    assert len(shown) > 90


def test_a_thousand_lines_and_the_result_are_all_shown(polled):
    texts = [f"line {number}" for number in range(1001)]

    assert [text for _, text in polled(*texts, content=[text_block("done")])] == ["do it", *texts, "done"]


def test_a_note_stands_for_messages_that_are_left_out(polled, monkeypatch):
    monkeypatch.setattr(wire, "MOST_MESSAGES", 2)

    shown = polled("one", "two", "three", content=[text_block("done")])

    assert [text for _, text in shown] == ["do it", wire.EARLIER, "two", "three", "done"]


def test_the_result_is_last_and_whole_after_many_messages(polled):
    result = "r" * 700_000

    shown = polled(*["x" * 9_000] * 100, sent="s" * 500_000, content=[text_block(result)])

    assert shown[-1] == ("agent", result)
    assert shown[0][1].startswith("s" * 90_000)
    assert shown[0][1].endswith(wire.CUT)
    assert shown[1] == ("agent", wire.EARLIER)


@pytest.mark.parametrize("letter", ["r", "\x01", "\u20ac"])
def test_a_result_too_long_for_an_answer_is_cut_with_a_note(polled, letter):
    _, (_, text) = polled(content=[text_block(letter * 1_000_000)])

    assert text.startswith(letter * 100_000)
    assert text.endswith(wire.CUT)


@pytest.mark.parametrize(
    ("content", "last"), [([{"type": "text", "text": "half"}], "half\nno time for more"), ([], "no time for more")]
)
def test_the_message_of_a_partial_result_is_shown_after_its_text(polled, content, last):
    shown = polled("I begin", status=ResultStatus.PARTIAL, content=content, error_message="no time for more")

    assert shown == [("user", "do it"), ("agent", "I begin"), ("agent", last)]


def test_the_reason_of_a_failure_is_cut_like_a_result(polled):
    shown = polled("on it", status=ResultStatus.ERROR, content=[], error_message="e" * 1_000_000)

    assert shown[-1][1].endswith(wire.CUT)


def test_progress_after_the_last_message_is_not_shown_as_the_answer(alice, bob):
    uuid = handler.handle_task_send(alice, {"message": "do it"})["id"]
    [lease] = leasing.lease_tasks(bob)
    updates.post_updates(bob, uuid, [Update(message=[text_block("done")]), Update(progress=1), Update(progress=1)])

    results.post_result(bob, factories.result_envelope(lease.task, content=[]))

    task = read(alice, uuid)
    assert (task["state"], task["messages"][-1]["parts"][0]["text"]) == ("completed", "done")


def test_progress_is_shown_as_a_message(alice, bob):
    uuid = handler.handle_task_send(alice, {"message": "do it"})["id"]
    [_] = leasing.lease_tasks(bob)
    said = [
        Update(progress=0.29),
        Update(progress=0.999, note="nearly there"),
        Update(message=[text_block("checked")], progress=1, note="all pages"),
    ]
    updates.post_updates(bob, uuid, said)

    shown = [message["parts"][0]["text"] for message in read(alice, uuid)["messages"]]

    assert shown == ["do it", "29 %", "99 %: nearly there", "checked\n100 %: all pages"]
    told = [event.fields for event in factories.journal("a2a_task_updated")]
    assert [row["progress"] for row in told] == [0.29, 0.999, 1]


def test_a_message_posted_while_the_task_is_read_waits_for_the_next_read(alice, bob, monkeypatch):
    sent = handler.handle_task_send(alice, {"params": {"message": "do it"}})
    current = expiry.current

    def then_work(*args):
        row = current(*args)
        if row.attempt == 0:
            leasing.lease_tasks(bob)
            updates.post_updates(bob, row.uuid, [Update(message=[{"type": "text", "text": "I began"}])])
        return row

    monkeypatch.setattr(expiry, "current", then_work)

    first, second = (handler.handle_task_get(alice, sent["id"]) for _ in range(2))

    assert first == sent
    assert second
    assert (second["state"], second["sessionId"]) == ("working", Lease.objects.get().lease_id)
    assert [message["parts"][0]["text"] for message in second["messages"]] == ["do it", "I began"]
