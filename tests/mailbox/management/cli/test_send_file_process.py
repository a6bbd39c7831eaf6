"""``a2a send --file`` and ``a2a work --batch`` as processes, at one served hub."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.db import connection

from mailbox.access.callers import Caller
from mailbox.models import Lease, Result, Task
from tests.support.databases import url_of_the_tests_database
from tests.support.hub import PATIENCE, ROOT, wait_until
from tests.support.workers import Desk

pytestmark = [pytest.mark.processes, pytest.mark.django_db(transaction=True)]

LINES = 60
Start = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Let child processes take Ctrl-C, even if the tests run in the background of a shell, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def sending(alice: Caller, bob: Caller, tmp_path: Path, interruptible: None) -> Start:
    """Return a function that starts a process, which sends the lines of its stdin as alice."""
    environment = os.environ | {"DATABASE_URL": url_of_the_tests_database(), "A2A_VAR": str(tmp_path)}
    connection.close()

    def start(*options: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "manage.py", "a2a", "send", "--from", "alice", "--to", "bob", "--file", "-", *options],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return start


def lines(*numbers: int) -> str:
    return "".join(json.dumps({"intent_text": f"task {number}"}) + "\n" for number in numbers)


def test_the_tasks_of_a_file_are_worked_on_in_batches(sending: Start, desk: Desk) -> None:
    printed, said = sending().communicate(lines(*range(LINES)), timeout=PATIENCE)
    with desk.process("cat", options=("--batch", "20", "--max-tasks", str(LINES))) as worker:
        assert worker.code() == 0, worker.printed

    assert (printed, said) == (f"{LINES} task(s) sent\n", "")
    assert sorted(result.blocks[0]["text"] for result in Result.objects.all()) == sorted(
        f"task {number}" for number in range(LINES)
    )
    assert (Lease.objects.count(), Lease.objects.live().count()) == (LINES, 0)


def test_ctrl_c_reports_what_was_sent_and_the_same_lines_send_the_rest(sending: Start) -> None:
    process = sending()
    assert process.stdin is not None
    process.stdin.write(lines(*range(500)))
    process.stdin.flush()
    wait_until(lambda: Task.objects.count() == 500)
    process.send_signal(signal.SIGINT)
    printed, said = process.communicate(timeout=PATIENCE)

    again, _ = sending().communicate(lines(*range(502)), timeout=PATIENCE)

    assert (process.returncode, printed) == (130, "")
    assert re.fullmatch(
        r"CommandError: interrupted: \d+ task\(s\) sent(, and perhaps \d+ more)?\. "
        r"The same command sends the rest\.\n",
        said,
    )
    assert (again, Task.objects.count()) == ("2 task(s) sent, 500 already there\n", 502)


def test_a_refused_line_is_reported_on_stderr_with_exit_code_1(sending: Start) -> None:
    process = sending("--json")
    printed, said = process.communicate(f"{lines(1)}nothing\n{lines(2)}", timeout=PATIENCE)

    assert process.returncode == 1
    assert [json.loads(line).get("code") for line in printed.splitlines()] == [None, "invalid_json", None]
    assert said.splitlines()[0] == "CommandError: 2 task(s) sent, 1 line(s) refused."
    assert said.splitlines()[1].startswith("line 2: not JSON")
