from __future__ import annotations

import fcntl
import os
import stat
import threading
import time

import pytest
from django.db import connection

from mailbox.database import write_turns
from tests.support.hub import PATIENCE

pytestmark = [
    pytest.mark.skipif(connection.vendor != "sqlite", reason="only SQLite has one lock for all"),
    pytest.mark.django_db(transaction=True),
]


@pytest.fixture
def taken_elsewhere():
    """Another open file has the lock, as another process has it; return it."""
    with write_turns.turn():
        pass
    file = os.open(f"{connection.settings_dict['NAME']}-turn", os.O_RDWR)
    fcntl.flock(file, fcntl.LOCK_EX)
    yield file
    os.close(file)


def test_a_turn_waits_for_one_of_another_process(taken_elsewhere):
    begun = time.monotonic()
    threading.Timer(0.05, fcntl.flock, [taken_elsewhere, fcntl.LOCK_UN]).start()

    with write_turns.turn():
        waited = time.monotonic() - begun

    assert waited >= 0.04


def test_a_turn_that_never_comes_is_not_waited_for_for_ever(taken_elsewhere, monkeypatch):
    monkeypatch.setattr(write_turns, "LONGEST_WAIT", 0.02)

    with write_turns.turn():
        assert not write_turns._try_lock(write_turns._file(f"{connection.settings_dict['NAME']}-turn", os.getpid()))


def test_threads_take_turns():
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


def test_a_thread_that_has_waited_long_enough_goes_on(monkeypatch):
    monkeypatch.setattr(write_turns, "LONGEST_WAIT", 0.02)

    with write_turns._threads, write_turns.turn():
        pass

    with write_turns.turn():
        pass


def test_the_file_is_private():
    with write_turns.turn():
        pass

    assert stat.S_IMODE(os.stat(f"{connection.settings_dict['NAME']}-turn").st_mode) == 0o600
