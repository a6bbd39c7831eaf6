"""``a2a send --file``: many tasks from one file, once each."""

import io
import json
import uuid

import pytest
from django.core.management.base import CommandError

from mailbox.access.callers import Caller
from mailbox.access.limits import quotas
from mailbox.life import leasing, sending
from mailbox.management.cli import progress, send_file
from mailbox.models import AuditEvent, Task
from tests.support import factories

BOB = {"recipient": "bob"}


class Terminal(io.StringIO):
    def isatty(self):
        return True


def texts():
    return list(Task.objects.order_by("pk").values_list("intent_text", flat=True))


def test_each_line_is_a_task_in_its_order(send):
    task_id = str(uuid.uuid4())

    printed = send(
        {**BOB, "intent_text": "one"},
        "",
        {"recipient": "bob@local", "intent_text": "two", "id": task_id, "task_kind": "math", "deadline_ms": 2**53},
    )

    assert printed == "2 task(s) sent"
    assert texts() == ["one", "two"]
    second = Task.objects.get(intent_text="two")
    assert (str(second.uuid), second.task_kind, second.deadline_ms) == (task_id, "math", 2**53)
    assert set(AuditEvent.objects.filter(kind="a2a_task_sent").values_list("source", flat=True)) == {"cli"}


def test_to_is_the_recipient_of_the_lines_that_name_none(send):
    send({"intent_text": "one"}, {"recipient": "alice", "intent_text": "two"}, options=("--to", "bob"))

    assert list(Task.objects.order_by("pk").values_list("recipient__display", flat=True)) == [
        "bob@local",
        "alice@local",
    ]


def test_the_tasks_of_a_local_part_are_sent_together(send, monkeypatch):
    single = sending.send_task

    def counted(*arguments):
        alone.append(arguments)
        return single(*arguments)

    alone: list[object] = []
    monkeypatch.setattr(sending, "send_task", counted)

    send(*[{**BOB, "intent_text": f"task {number}"} for number in range(5)])

    assert (len(texts()), alone) == (5, [])


def test_bad_lines_are_reported_at_the_end_and_spoil_no_other_line(send):
    taken = factories.sent_task(factories.agent("carol", "a2a.send.*"), factories.agent("dora"))

    with pytest.raises(CommandError) as raised:
        send(
            {**BOB, "intent_text": "one"},
            "no json",
            "[]",
            {**BOB, "intent_text": 7},
            {**BOB, "intent_text": " "},
            {"intent_text": "no recipient"},
            {"recipient": "nemo", "intent_text": "lost"},
            {**BOB, "intent_text": "stolen", "sender": "bob"},
            {**BOB, "intent_text": "taken", "id": str(taken.uuid)},
            {**BOB, "intent_text": "two"},
        )

    assert raised.value.returncode == 1
    summary, *problems = str(raised.value).splitlines()
    assert summary == "2 task(s) sent, 8 line(s) refused."
    assert problems[0] == "line 2: not JSON: Expecting value at line 1 column 1"
    assert problems[1] == "line 3: body: must be a JSON object"
    assert problems[2] == "line 4: intent_text: must be text"
    assert [problem.partition(":")[0] for problem in problems] == [f"line {number}" for number in range(2, 10)]
    assert texts()[1:] == ["one", "two"]


def test_a_long_line_is_refused_and_skipped_in_parts(send, settings):
    settings.A2A_MAX_BODY_BYTES = 1000

    with pytest.raises(CommandError, match="line 2: line: is longer than 1000 bytes"):
        send({**BOB, "intent_text": "one"}, {**BOB, "intent_text": "x" * 200_000}, {**BOB, "intent_text": "two"})

    assert texts() == ["one", "two"]


def test_the_message_names_a_bounded_number_of_lines(send, monkeypatch):
    monkeypatch.setattr(send_file, "MOST_REPORTED", 2)

    with pytest.raises(CommandError) as raised:
        send(*["no json"] * 5)

    assert str(raised.value).splitlines()[1:][-2:] == [
        "line 2: not JSON: Expecting value at line 1 column 1",
        "and 3 more line(s)",
    ]


def test_json_prints_the_outcome_of_each_line(a2a, cast, capsys, monkeypatch):
    lines = b'{"intent_text":"one"}\nno json\n{"intent_text":"two"}'
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(lines)))

    with pytest.raises(CommandError, match="1 line"):
        a2a("send", "--from", "alice", "--to", "bob", "--file", "-", "--json")

    first, second, third = map(json.loads, capsys.readouterr().out.splitlines())
    ids = [str(task_id) for task_id in Task.objects.order_by("pk").values_list("uuid", flat=True)]
    assert (first, third) == (
        {"line": 1, "task_id": ids[0], "already_there": False},
        {"line": 3, "task_id": ids[1], "already_there": False},
    )
    assert (second["line"], second["code"]) == (2, "invalid_json")


@pytest.mark.django_db(transaction=True)
def test_a_file_beyond_a_quota_waits_for_room(send, settings, monkeypatch, capsys):
    settings.A2A_QUOTA_QUEUED_TO_ONE = 3
    waits = []

    def work(seconds):
        waits.append(seconds)
        leasing.lease_tasks(Caller.local(), limit=100)
        quotas.forget()  # as after that second

    monkeypatch.setattr("time.sleep", work)

    assert send(*[{**BOB, "intent_text": f"task {number}"} for number in range(8)]) == "8 task(s) sent"

    assert waits == [1, 1]
    assert Task.objects.count() == 8
    assert capsys.readouterr().err == (
        "Line 4 waits for room: alice@local has reached its quota of 3 queued tasks for this recipient. "
        "Wait until there are fewer, or ask an operator for more.\n"
    )


@pytest.mark.django_db(transaction=True)
def test_a_line_that_exceeds_a_quota_by_itself_is_refused_and_the_others_go(send, settings, monkeypatch):
    settings.A2A_QUOTA_BYTES = 1500

    def stop(seconds):
        raise AssertionError("no wait makes room for this line")

    monkeypatch.setattr("time.sleep", stop)

    with pytest.raises(CommandError) as raised:
        send({**BOB, "intent_text": "one"}, {**BOB, "intent_text": "x" * 2000}, {**BOB, "intent_text": "two"})

    assert texts() == ["one", "two"]
    summary, problem = str(raised.value).splitlines()
    assert summary == "2 task(s) sent, 1 line(s) refused."
    assert problem.startswith("line 2: alice@local has reached its quota of 1500 bytes of tasks. This request adds ")
    assert problem.endswith(". Ask an operator for more.")


def test_a_terminal_shows_a_bar_and_a_file_does_not(send, monkeypatch):
    monkeypatch.setattr(send_file, "AT_ONCE", 1)
    monkeypatch.setattr(progress, "EVERY", 0.0)
    lines = [{**BOB, "intent_text": f"task {number}"} for number in range(2)]
    quiet, terminal = io.StringIO(), Terminal()

    monkeypatch.setattr("sys.stderr", quiet)
    send(*lines)
    monkeypatch.setattr("sys.stderr", terminal)
    send(*lines)

    assert quiet.getvalue() == ""
    half, whole, end = terminal.getvalue().split("\r\x1b[K")[1:]
    assert half.startswith("[############............]  50%  1 tasks  ")
    assert whole.startswith("[########################] 100%  2 tasks  ")
    assert end == ""


def test_a_stream_of_unknown_size_shows_a_count_and_the_time_left_of_a_file_is_shown():
    assert progress.Progress(None)._line(10, 5, 2.0) == "5 tasks  2/s"
    assert progress.Progress(1000)._line(100, 5, 20.0).endswith("10%  5 tasks  0/s  3:00 left")
    assert progress._clock(3_725) == "1:02:05"


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--file", "f", "--kind", "math"), "--kind does not go with --file"),
        (("--file", "f", "--deadline-ms", "7"), "--deadline-ms does not go with --file"),
        (("--file", "f", "--work-timeout-ms", "7"), "--work-timeout-ms does not go with --file"),
        (("--file", "f", "text"), "not allowed with argument"),
        (("--to", "bob"), "one of the arguments"),
        (("text",), "give --to"),
        (("--to", "bob", "text", "--run", "r"), "--run goes with --file"),
        (("--file", "/nowhere/f"), "--file /nowhere/f: No such file or directory"),
    ],
)
def test_wrong_usage_is_refused(a2a, cast, words, problem):
    with pytest.raises(CommandError, match=problem):
        a2a("send", "--from", "alice", *words)
