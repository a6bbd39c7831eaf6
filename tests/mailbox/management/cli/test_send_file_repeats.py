"""``a2a send --file``: a repeated file sends no task twice, and reports those that are already there."""

import json
import uuid

import pytest
from django.core.management.base import CommandError

from mailbox.management.cli import send_file
from mailbox.models import Task

BOB = {"recipient": "bob"}


def texts():
    return list(Task.objects.order_by("pk").values_list("intent_text", flat=True))


def test_a_repeated_file_makes_no_second_task(send):
    lines = [{**BOB, "intent_text": f"task {number}"} for number in range(5)]
    send(*lines)
    ids = set(Task.objects.values_list("uuid", flat=True))

    assert send(*lines) == "0 task(s) sent, 5 already there"
    assert send(*reversed(lines), {**BOB, "intent_text": "new"}) == "1 task(s) sent, 5 already there"
    assert send(lines[2]) == "0 task(s) sent, 1 already there"

    assert Task.objects.count() == 6
    assert ids < set(Task.objects.values_list("uuid", flat=True))


def test_a_file_makes_no_second_task_after_a_change_of_the_secret(send, settings):
    lines = [{**BOB, "intent_text": f"task {number}"} for number in range(3)]
    send(*lines[:2])
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "another secret of this hub, since its rotation", []

    assert send(*lines) == "1 task(s) sent, 2 already there"

    assert texts() == ["task 0", "task 1", "task 2"]


def test_a_line_with_the_id_of_another_line_is_already_there(send):
    line = {**BOB, "intent_text": "one", "id": str(uuid.uuid4())}

    assert send(line, line) == "1 task(s) sent, 1 already there"


def test_a_line_whose_id_another_agent_took_is_refused_and_goes_in_another_run(send):
    send({**BOB, "intent_text": "ping"})
    stolen = Task.objects.get()
    Task.objects.update(sender=stolen.recipient_id)

    with pytest.raises(CommandError, match="line 1: "):
        send({**BOB, "intent_text": "ping"})
    assert send({**BOB, "intent_text": "ping"}, options=("--run", "again")) == "1 task(s) sent"


def test_equal_lines_are_tasks_of_their_own_and_repeat_as_such(send):
    send(*[{**BOB, "intent_text": "ping"}] * 3)
    send(*[{**BOB, "intent_text": "ping"}] * 3)

    assert texts() == ["ping"] * 3


def test_another_run_sender_or_recipient_makes_new_tasks(a2a, send, tmp_path):
    line = {"intent_text": "again"}
    send(line, options=("--to", "bob"))
    send(line, options=("--to", "bob", "--run", "tuesday"))
    send(line, options=("--to", "bob", "--run", "tuesday"))
    send(line, options=("--to", "alice"))
    a2a("send", "--from", "bob", "--to", "bob", "--file", tmp_path / "tasks.jsonl")

    assert Task.objects.count() == 4


def test_json_marks_the_tasks_that_are_already_there(send, capsys):
    line = {**BOB, "intent_text": "one"}
    send(line)

    send(line, {**BOB, "intent_text": "two"}, options=("--json",))

    outcomes = [json.loads(printed) for printed in capsys.readouterr().out.splitlines()]
    assert [outcome["already_there"] for outcome in outcomes] == [True, False]


def test_an_interrupted_run_reports_what_went_and_can_be_repeated(send, monkeypatch):
    monkeypatch.setattr(send_file, "AT_ONCE", 2)
    send_tasks, batches = send_file._send_tasks, []

    def interrupted(caller, envelopes):
        batches.append(envelopes)
        if len(batches) == 3:
            raise KeyboardInterrupt
        return send_tasks(caller, envelopes)

    monkeypatch.setattr(send_file, "_send_tasks", interrupted)
    lines = [{**BOB, "intent_text": f"task {number}"} for number in range(7)]

    with pytest.raises(
        CommandError, match=r"^interrupted: 4 task\(s\) sent, and perhaps 2 more\. The same command sends the rest\.$"
    ) as stop:
        send(*lines)
    assert stop.value.returncode == 130
    assert send(*lines) == "3 task(s) sent, 4 already there"

    assert texts() == [f"task {number}" for number in range(7)]


def test_an_interrupted_repeat_reports_what_was_already_there(send, monkeypatch):
    lines = [{**BOB, "intent_text": f"task {number}"} for number in range(3)]
    send(*lines[:1])
    monkeypatch.setattr(send_file, "AT_ONCE", 2)
    send_tasks, batches = send_file._send_tasks, []

    def interrupted(caller, envelopes):
        batches.append(envelopes)
        if len(batches) == 2:
            raise KeyboardInterrupt
        return send_tasks(caller, envelopes)

    monkeypatch.setattr(send_file, "_send_tasks", interrupted)

    with pytest.raises(
        CommandError, match=r"^interrupted: 1 task\(s\) sent, and perhaps 1 more, 1 already there\. The"
    ):
        send(*lines)
