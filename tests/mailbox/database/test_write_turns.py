import errno
import fcntl
import os
import stat
import subprocess
import sys
import threading
from functools import partial

import pytest
from django.db import connection

from mailbox.database import write_turns
from tests.support.hub import ROOT
from tests.support.pauses import Clock

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


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(write_turns, "time", clock)
    return clock


def test_a_turn_waits_for_a_turn_of_another_process(taken_elsewhere, clock):
    clock.steps = [lambda: None, partial(fcntl.flock, taken_elsewhere, fcntl.LOCK_UN)]

    with write_turns.turn():
        assert clock.pauses == [write_turns.PAUSE] * 2


def test_a_turn_is_taken_without_the_lock_after_the_longest_wait(taken_elsewhere, clock):
    with write_turns.turn():
        assert sum(clock.pauses) == pytest.approx(write_turns.LONGEST_WAIT, abs=write_turns.LONG_PAUSE)
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
        thread.join()

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


@pytest.mark.processes
def test_a_forked_process_does_not_wait_for_a_thread_of_its_parent():
    subprocess.run([sys.executable, "-c", FORKS], cwd=ROOT, check=True)


def test_only_its_owner_can_read_the_lock_files():
    with write_turns.turn():
        pass

    for end in ("-turn", "-next"):
        assert stat.S_IMODE(os.stat(f"{connection.settings_dict['NAME']}{end}").st_mode) == 0o600


def test_a_process_that_has_had_its_turn_lets_the_waiting_process_go_first(taken_elsewhere, clock):
    """Another process has the next place, and takes its turn before ours."""
    place = os.open(f"{connection.settings_dict['NAME']}-next", os.O_RDWR)
    fcntl.flock(place, fcntl.LOCK_EX)
    fcntl.flock(taken_elsewhere, fcntl.LOCK_UN)
    clock.steps = [lambda: None, partial(fcntl.flock, place, fcntl.LOCK_UN)]

    with write_turns.turn():
        assert clock.pauses == [write_turns.PAUSE] * 2
        assert write_turns._try_lock(place)  # free for the next process during the turn
        assert not write_turns._try_lock(taken_elsewhere)

    os.close(place)
    assert write_turns._try_lock(taken_elsewhere)


@pytest.mark.parametrize("end", ["-turn", "-next"])
def test_after_the_longest_wait_no_lock_is_kept(clock, end):
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
