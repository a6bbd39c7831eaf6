import json

import pytest

from mailbox.models import Task
from tests.support import factories

pytestmark = pytest.mark.django_db(transaction=True)


def lines(*bodies):
    return "\n".join(json.dumps(body) if isinstance(body, dict) else body for body in bodies)


def test_a_file_is_sent_once_however_often_it_is_given(a2a, alice, bob, tmp_path):
    file = tmp_path / "tasks.jsonl"
    file.write_text(
        lines({"recipient": "bob", "intent_text": "one"}, "", {"intent_text": "two"}, {"intent_text": "two"})
    )

    first, second = (a2a("task", "send", "bob", "--file", file, by=alice) for _ in range(2))

    assert (first.code, first.out) == (second.code, second.out) == (0, "3 tasks are at the hub\n")
    assert sorted(Task.objects.values_list("intent_text", flat=True)) == ["one", "two", "two"]


def test_another_run_sends_the_lines_again(a2a, alice, bob):
    for run in ("", "tuesday"):
        a2a("task", "send", "bob", "-f", "-", "--run", run, by=alice, typed=lines({"intent_text": "one"}))

    assert Task.objects.count() == 2


def test_a_bad_line_keeps_no_other_from_being_sent(a2a, alice, bob):
    bad = lines("{", "[]", {"intent_text": "one"}, {"recipient": "nobody", "intent_text": "x"})

    sent = a2a("task", "send", "bob", "-f", "-", by=alice, typed=bad)

    assert (sent.code, sent.out) == (1, "1 tasks are at the hub\n")
    *told, last = sent.err.splitlines()
    assert [line.partition(":")[0] for line in told] == ["line 1", "line 2", "line 4"]
    assert last == "a2a: 3 of the lines were not sent"


def test_the_outcome_in_json_names_the_bad_lines(a2a, alice, bob):
    sent = a2a("task", "send", "-f", "-", "-o", "json", by=alice, typed=lines({"recipient": "bob", "intent_text": 3}))

    assert sent.json["sent"] == 0
    assert [(bad["line"], bad["code"]) for bad in sent.json["refused"]] == [(1, "invalid_request")]


def test_many_lines_are_sent_in_batches(a2a, alice, bob):
    many = lines(*({"intent_text": str(number)} for number in range(205)))

    assert a2a("task", "send", "bob", "-f", "-", by=alice, typed=many).out == "205 tasks are at the hub\n"
    assert Task.objects.count() == 205


def test_long_lines_are_sent_in_batches_that_the_hub_accepts(a2a, alice, bob):
    long = lines(*({"intent_text": f"{number} " + "x" * 190_000} for number in range(7)))

    sent = a2a("task", "send", "bob", "-f", "-", by=alice, typed=long)

    assert (sent.code, sent.out, sent.err) == (0, "7 tasks are at the hub\n", "")


@pytest.mark.parametrize("before", [0, 3])
def test_a_line_that_no_request_can_hold_is_named_and_the_others_are_sent(a2a, alice, bob, before):
    small = [{"intent_text": str(number)} for number in range(5)]
    huge = {"intent_text": "x" * 1_100_000}

    sent = a2a("task", "send", "bob", "-f", "-", by=alice, typed=lines(*small[:before], huge, *small[before:]))

    assert (sent.code, sent.out) == (1, "5 tasks are at the hub\n")
    told, last = sent.err.splitlines()
    assert told.startswith(f"line {before + 1}: the task has 11000")
    assert last == "a2a: 1 of the lines were not sent"


def test_a_hub_that_accepts_less_gets_smaller_batches(a2a, alice, bob, monkeypatch):
    monkeypatch.setattr("a2a_hub_client._calls.MOST_BYTES", 10_000_000)
    many = lines(*({"intent_text": f"{number} " + "x" * 400_000} for number in range(5)), {"intent_text": "x" * 2**20})

    sent = a2a("task", "send", "bob", "-f", "-", "-o", "json", by=alice, typed=many)

    assert sent.json["sent"] == Task.objects.count() == 5
    assert [(bad["line"], bad["code"]) for bad in sent.json["refused"]] == [(6, "body_too_large")]


def test_people_send_no_tasks(a2a, ada, bob):
    refused = a2a("task", "send", "bob", "-f", "-", by=ada, typed=lines({"intent_text": "one"}))

    assert refused.err == "0 tasks are at the hub\n" or "people send no tasks" in refused.err
    assert refused.code == 1


def test_a_missing_file_is_named(a2a, alice, tmp_path):
    refused = a2a("task", "send", "bob", "-f", tmp_path / "none", by=alice)

    assert refused.err.splitlines()[-1] == f"a2a: {tmp_path / 'none'} cannot be read: No such file or directory"


def test_tasks_beyond_a_quota_wait_for_room(a2a, alice, bob, ada, monkeypatch):
    a2a("agent", "set-quotas", "alice", "queued=2", by=ada)
    room = iter([lambda: a2a("agent", "set-quotas", "alice", "queued=", by=ada)])
    monkeypatch.setattr("a2a_hub_client.cli.commands.sending.time.sleep", lambda _: next(room)())

    many = lines(*({"intent_text": str(number)} for number in range(4)))
    sent = a2a("task", "send", "bob", "-f", "-", by=alice, typed=many)

    assert (sent.code, sent.out) == (0, "4 tasks are at the hub\n")
    assert sent.err.startswith("line 3 waits: ")
    assert factories.journal("a2a_task_sent")
