"""Writes of several threads share a transaction of SQLite, and each gets its own answer or error."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial

import pytest
from django.db import IntegrityError, connection, transaction

from mailbox.database import shared_writes, write_turns
from mailbox.models import RateWindow
from tests.support.hub import PATIENCE, wait_until

pytestmark = [
    pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL commits for many by itself"),
    pytest.mark.django_db(transaction=True),
]

INSERT = "INSERT INTO mailbox_ratewindow (key, started_at, counted) VALUES (:key, '2026-01-01', 0) RETURNING key"


def insert(key):
    return lambda cursor: cursor.execute(INSERT, {"key": key}).fetchone()[0]


def is_waiting(number):
    return len(shared_writes._waiting.writes) == number


def keys():
    return set(RateWindow.objects.values_list("key", flat=True))


@pytest.fixture
def sizes(monkeypatch):
    """Return the list of how many writes each transaction tried."""
    tried = []

    def together(works, run=shared_writes._together):
        tried.append(len(works))
        return run(works)

    monkeypatch.setattr(shared_writes, "_together", together)
    return tried


@pytest.fixture
def at_once():
    """Return a function that lets each write run in a thread of its own, and all of them wait for the same turn.

    It returns the futures of the threads, in the order of the writes. The first write leads.
    """

    def in_thread(work):
        try:
            return shared_writes.run(work), keys()
        finally:
            connection.close()

    with ThreadPoolExecutor(16) as threads:

        def run(*works):
            with ExitStack() as turn:
                turn.enter_context(write_turns.turn())
                futures = []
                for place, work in enumerate(works):
                    futures.append(threads.submit(in_thread, work))
                    wait_until(partial(is_waiting, place))
                    wait_until(lambda: shared_writes._waiting.has_leader)
            return futures

        yield run


def test_writes_that_wait_for_a_turn_share_its_transaction(at_once, sizes):
    futures = at_once(*map(insert, "abcd"))

    for key, future in zip("abcd", futures, strict=True):
        answer, seen = future.result(PATIENCE)
        assert answer == key
        assert key in seen  # committed before it was answered
    assert sizes == [4]


def test_a_transaction_takes_a_limited_number_of_writes(at_once, sizes, monkeypatch):
    monkeypatch.setattr(shared_writes, "MOST", 2)

    futures = at_once(*map(insert, "abcde"))

    assert [future.result(PATIENCE)[0] for future in futures] == list("abcde")
    assert sizes == [2, 2, 1]


@pytest.mark.parametrize("bad", [0, 1, 3])
def test_an_error_concerns_its_own_write_alone(at_once, bad):
    RateWindow.objects.create(key="taken", started_at="2026-01-01T00:00Z", counted="")
    wanted = list("abcd")
    wanted[bad] = "taken"

    futures = at_once(*map(insert, wanted))

    for place, future in enumerate(futures):
        if place == bad:
            with pytest.raises(IntegrityError):
                future.result(PATIENCE)
        else:
            assert future.result(PATIENCE)[0] == wanted[place]
    assert keys() == set(wanted)


def test_a_failed_write_leaves_nothing_and_others_go_on():
    def half(cursor):
        insert("half")(cursor)
        raise ValueError("half")

    with pytest.raises(ValueError, match="half"):
        shared_writes.run(half)

    assert shared_writes.run(insert("whole")) == "whole"
    assert keys() == {"whole"}


def test_a_thread_that_dies_while_it_leads_leaves_the_others_their_writes(at_once):
    def die(_):
        raise SystemExit

    dead, *others = at_once(die, insert("a"), insert("b"))

    assert [other.result(PATIENCE)[0] for other in others] == ["a", "b"]
    assert isinstance(dead.exception(PATIENCE), SystemExit)


def test_a_transaction_of_the_caller_is_refused():
    with transaction.atomic(), pytest.raises(RuntimeError, match="durable"):
        shared_writes.run(insert("a"))

    assert keys() == set()


def test_many_writers_lose_nothing():
    def work(number):
        try:
            return [shared_writes.run(insert(f"{number}-{turn}")) for turn in range(10)]
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        answers = [key for found in threads.map(work, range(8), timeout=PATIENCE) for key in found]

    assert len(answers) == len(set(answers)) == 80
    assert keys() == set(answers)
    assert not shared_writes._waiting.has_leader
