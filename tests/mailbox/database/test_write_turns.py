from __future__ import annotations

import errno
import fcntl
import os
import stat
import subprocess
import sys
import threading
import time

import pytest
from django.db import connection

from mailbox.database import write_turns
from tests.support.hub import PATIENCE, ROOT

pytestmark = [
    pytest.mark.skipif(connection.vendor != "sqlite", reason="only SQLite has one lock for all"),
    pytest.mark.django_db(transaction=True),
]


@pytest.fixture
def taken_elsewhere():
    """Take the lock through another open file, as another process would; return that file."""
    with write_turns.turn():
        pass
    file = os.open(f"{connection.settings_dict['NAME']}-turn", os.O_RDWR)
    fcntl.flock(file, fcntl.LOCK_EX)
    yield file
    os.close(file)


def test_a_turn_waits_for_a_turn_of_another_process(taken_elsewhere):
    begun = time.monotonic()
    threading.Timer(0.05, fcntl.flock, [taken_elsewhere, fcntl.LOCK_UN]).start()

    with write_turns.turn():
        waited = time.monotonic() - begun

    assert waited >= 0.04


def test_a_turn_is_taken_without_the_lock_after_the_longest_wait(taken_elsewhere, monkeypatch):
    monkeypatch.setattr(write_turns, "LONGEST_WAIT", 0.02)

    with write_turns.turn():
        assert not write_turns._try_lock(write_turns._file(f"{connection.settings_dict['NAME']}-turn", os.getpid()))


def test_threads_of_a_process_take_turns():
    inside, most = [], []

    def work():
        for _ in range(20):
            with write_turns.turn():
                inside.append(1)
                most.append(len(inside))
                inside.pop()
        connection.close()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)

    assert len(most) == 80
    assert max(most) == 1


def test_a_thread_continues_after_the_longest_wait(monkeypatch):
    monkeypatch.setattr(write_turns, "LONGEST_WAIT", 0.02)

    with write_turns._here.threads, write_turns.turn():
        pass

    with write_turns.turn():
        pass


# Its program forks, because this process has threads.
FORKS = """
import os, sys
from mailbox.database import write_turns

with write_turns._here.threads:
    child = os.fork()
    if child == 0:
        os._exit(write_turns._here.threads.locked())
    assert write_turns._here.threads.locked()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_forked_process_does_not_wait_for_a_thread_of_its_parent():
    subprocess.run([sys.executable, "-c", FORKS], cwd=ROOT, check=True, timeout=PATIENCE)


def test_only_its_owner_can_read_the_lock_files():
    with write_turns.turn():
        pass

    for end in ("-turn", "-next"):
        assert stat.S_IMODE(os.stat(f"{connection.settings_dict['NAME']}{end}").st_mode) == 0o600


def test_a_process_that_has_had_its_turn_lets_the_waiting_process_go_first(taken_elsewhere):
    """Another process has the next place, and takes its turn before ours."""
    place = os.open(f"{connection.settings_dict['NAME']}-next", os.O_RDWR)
    fcntl.flock(place, fcntl.LOCK_EX)
    fcntl.flock(taken_elsewhere, fcntl.LOCK_UN)
    begun = time.monotonic()
    threading.Timer(0.05, fcntl.flock, [place, fcntl.LOCK_UN]).start()

    with write_turns.turn():
        waited = time.monotonic() - begun
        assert write_turns._try_lock(place)  # free for the next process during the turn
        assert not write_turns._try_lock(taken_elsewhere)

    os.close(place)
    assert waited >= 0.04
    assert write_turns._try_lock(taken_elsewhere)


@pytest.mark.parametrize("end", ["-turn", "-next"])
def test_after_the_longest_wait_no_lock_is_kept(monkeypatch, end):
    monkeypatch.setattr(write_turns, "LONGEST_WAIT", 0.02)
    with write_turns.turn():
        pass
    other = os.open(f"{connection.settings_dict['NAME']}{end}", os.O_RDWR)
    fcntl.flock(other, fcntl.LOCK_EX)
    with write_turns.turn():
        pass
    os.close(other)

    for name in ("-turn", "-next"):
        file = os.open(f"{connection.settings_dict['NAME']}{name}", os.O_RDWR)
        assert write_turns._try_lock(file)
        os.close(file)


def test_a_writer_goes_on_when_the_file_of_the_turns_cannot_be_opened(monkeypatch):
    def refuse(*_):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(write_turns, "_file", refuse)

    with write_turns.turn():
        ran = True

    assert ran
    assert not write_turns._here.threads.locked()
