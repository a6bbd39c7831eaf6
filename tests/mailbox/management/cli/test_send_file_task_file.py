"""Files of tasks are read line by line."""

import contextlib
import io
import sqlite3
import tracemalloc

import pytest
from django.core.management.base import CommandError

from mailbox.management.cli import send_file
from mailbox.models import Agent, Task
from mailbox.words.envelopes import TaskEnvelope
from tests.support import factories


def test_a_long_file_is_not_held_in_memory(cast, monkeypatch):
    sender = factories.row_of(factories.agent("erin"))
    line = b'{"recipient":"bob","intent_text":"' + b"x" * 1000 + b'"}\n'

    class Endless(io.BytesIO):
        """A file of 3,000 different lines, which are made while they are read."""

        def __init__(self):
            super().__init__()
            self.left = 3000

        def readline(self, size=-1):
            self.left -= 1
            return line.replace(b"x", b"%d" % self.left, 1) if self.left >= 0 else b""

    with send_file.TaskFile(Endless(), sender) as file:
        lines = iter(file)
        next(lines)
        tracemalloc.start()
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        try:
            assert sum(1 for _ in lines) == 2999
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()

    assert peak - before < 500_000, "3 MB of lines leave no trace"


@pytest.mark.parametrize("error", [None, KeyboardInterrupt(), RuntimeError("lost")])
def test_the_counts_of_a_file_are_closed_in_every_case(a2a, cast, tmp_path, monkeypatch, error):
    connect, opened = sqlite3.connect, []
    send_tasks = send_file._send_tasks

    def noted(*arguments, **options):
        opened.append(connect(*arguments, **options))
        return opened[-1]

    def interrupted(caller, envelopes):
        if error is not None:
            raise error
        return send_tasks(caller, envelopes)

    monkeypatch.setattr(sqlite3, "connect", noted)
    monkeypatch.setattr(send_file, "_send_tasks", interrupted)
    monkeypatch.setattr(send_file, "AT_ONCE", 1)
    path = tmp_path / "tasks.jsonl"
    path.write_text('{"recipient":"bob","intent_text":"one"}\n{"recipient":"bob","intent_text":"two"}\n')

    with contextlib.nullcontext() if error is None else pytest.raises((CommandError, RuntimeError)):
        a2a("send", "--from", "alice", "--file", path)

    (counts,) = opened
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        counts.execute("SELECT 1")


def test_a_recipient_that_is_added_later_makes_no_second_task_of_the_lines_that_name_one(a2a, cast, tmp_path):
    path = tmp_path / "tasks.jsonl"
    path.write_text(
        '{"recipient":"bob","intent_text":"one"}\n{"intent_text":"two"}\n{"recipient":"alice","intent_text":"three"}\n'
    )

    with pytest.raises(CommandError, match="line 2: recipient: "):
        a2a("send", "--from", "alice", "--file", path)
    assert a2a("send", "--from", "alice", "--file", path, "--to", "bob") == "1 task(s) sent, 2 already there"

    assert set(Task.objects.values_list("intent_text", "recipient__local")) == {
        ("one", "bob"),
        ("two", "bob"),
        ("three", "alice"),
    }
    assert Task.objects.count() == 3


@pytest.mark.parametrize(
    ("line", "recipient", "derived"),
    [
        (b'{"recipient":"bob","intent_text":"one"}', None, "e55c5e31-75da-5619-9f85-b3e77ec32531"),
        (b'{"recipient":"bob","intent_text":"one"}', "alice@local", "e55c5e31-75da-5619-9f85-b3e77ec32531"),
        (b'{"intent_text":"two"}', "alice@local", "bbb02202-4a76-5b37-b202-6bce44794bf3"),
    ],
)
def test_the_derived_id_of_a_line_stays_for_ever(cast, line, recipient, derived):
    sender = Agent(pubkey="ab" * 32)

    with send_file.TaskFile(io.BytesIO(line), sender, recipient=recipient, run="tuesday") as file:
        (read,) = file

    assert isinstance(read.task, TaskEnvelope)
    assert str(read.task.id) == derived
