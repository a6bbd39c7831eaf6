"""Writes of several threads share a transaction of SQLite, and each gets its own answer or error."""

import sqlite3
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial

import pytest
from django.db import IntegrityError, OperationalError, connection, transaction

from mailbox.database import write_turns
from mailbox.database.sqlite3.base import DatabaseWrapper
from mailbox.models import RateWindow
from tests.support.pauses import until

pytestmark = [
    pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL commits for many by itself"),
    pytest.mark.django_db(transaction=True),
]

INSERT = "INSERT INTO mailbox_ratewindow (key, started_at, counted) VALUES (:key, '2026-01-01', 0) RETURNING key"


def insert(key):
    return lambda cursor: cursor.execute(INSERT, {"key": key}).fetchone()[0]


def is_waiting(number):
    return len(write_turns._waiting.writes) == number


def keys():
    return set(RateWindow.objects.values_list("key", flat=True))


def in_thread(work):
    try:
        return write_turns.run_shared(work), keys()
    finally:
        connection.close()


@pytest.fixture
def sizes(monkeypatch):
    """Return the list of how many writes each transaction tried."""
    tried = []

    def together(works, run=write_turns._together):
        tried.append(len(works))
        return run(works)

    monkeypatch.setattr(write_turns, "_together", together)
    return tried


@pytest.fixture
def at_once():
    """Return a function that lets each write run in a thread of its own, and all of them wait for the same turn.

    It returns the futures of the threads, in the order of the writes. The first write leads.
    """
    with ThreadPoolExecutor(16) as threads:

        def run(*works):
            with ExitStack() as turn:
                turn.enter_context(write_turns.turn())
                futures = []
                for place, work in enumerate(works):
                    futures.append(threads.submit(in_thread, work))
                    until(partial(is_waiting, place))
                    until(lambda: write_turns._waiting.leader is not None)
            return futures

        yield run


def test_writes_that_wait_for_a_turn_share_its_transaction(at_once, sizes):
    futures = at_once(*map(insert, "abcd"))

    for key, future in zip("abcd", futures, strict=True):
        answer, seen = future.result()
        assert answer == key
        assert key in seen  # committed before it was answered
    assert sizes == [4]


def test_a_transaction_takes_a_limited_number_of_writes(at_once, sizes, monkeypatch):
    monkeypatch.setattr(write_turns, "MOST_SHARED", 2)

    futures = at_once(*map(insert, "abcde"))

    assert [future.result()[0] for future in futures] == list("abcde")
    assert sizes == [2, 2, 1]


def answers(futures):
    """Return the answer of each thread, or the class of its error."""
    return [type(error) if (error := future.exception()) else future.result()[0] for future in futures]


@pytest.mark.parametrize("bad", [0, 1, 3])
@pytest.mark.parametrize(
    ("statement", "error"), [(INSERT, IntegrityError), ("SELECT nothing", OperationalError)], ids=["stopped", "wrong"]
)
def test_an_error_undoes_its_own_write_alone(at_once, sizes, bad, statement, error):
    RateWindow.objects.create(key="taken", started_at="2026-01-01T00:00Z", counted="")

    def fail(cursor):
        insert("half")(cursor)
        cursor.execute(statement, {"key": "taken"})

    wanted = list("abcd")
    works = [*map(insert, wanted)]
    works[bad], wanted[bad] = fail, error

    assert answers(at_once(*works)) == wanted
    assert keys() == {"taken", *wanted} - {error}
    assert sizes == [4]


@pytest.fixture
def orphan():
    """Return a write of a row that refers to nothing, which only a commit notices."""
    with connection.cursor() as cursor:
        refers = "key text REFERENCES mailbox_ratewindow (key) DEFERRABLE INITIALLY DEFERRED"
        cursor.execute(f"CREATE TABLE child ({refers})")
    yield lambda cursor: cursor.execute("INSERT INTO child VALUES ('nothing')")
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE child")


@pytest.mark.parametrize("bad", [0, 2])
def test_a_row_that_stops_the_commit_stops_its_own_write_alone(at_once, sizes, orphan, bad):
    works = [*map(insert, "abc")]
    works[bad] = orphan

    outcomes = answers(at_once(*works))

    assert outcomes == [IntegrityError if place == bad else key for place, key in enumerate("abc")]
    assert keys() == set(outcomes) - {IntegrityError}
    assert sizes == [3, 1, 1, 1]
    assert answers(at_once(orphan)) == [IntegrityError]


def test_an_error_that_ends_the_transaction_concerns_all_its_writes(at_once, sizes):
    def end(cursor):
        cursor.execute("ROLLBACK")
        raise ValueError("ended")

    assert answers(at_once(insert("a"), end, insert("b"))) == [ValueError] * 3
    assert keys() == set()
    assert sizes == [3]
    assert write_turns.run_shared(insert("c")) == "c"


@pytest.mark.parametrize("when", ["set_autocommit", "_commit"])
def test_an_error_of_the_transaction_is_raised_for_all_its_writes(at_once, sizes, monkeypatch, when):
    def refuse(*_, **__):
        cause = sqlite3.OperationalError("the disk is full")
        raise OperationalError(*cause.args) from cause

    with monkeypatch.context() as patch:
        patch.setattr(DatabaseWrapper, when, refuse)
        futures = at_once(*map(insert, "abc"))
        errors = [future.exception() for future in futures]

    assert [(type(error), str(error.__cause__)) for error in errors] == [(OperationalError, "the disk is full")] * 3
    assert len(set(map(id, errors))) == 3  # one for each thread
    assert keys() == set()
    assert sizes == [3]
    assert write_turns.run_shared(insert("d")) == "d"


def test_a_failed_write_leaves_nothing_and_others_go_on():
    def half(cursor):
        insert("half")(cursor)
        raise ValueError("half")

    with pytest.raises(ValueError, match="half"):
        write_turns.run_shared(half)

    assert write_turns.run_shared(insert("whole")) == "whole"
    assert keys() == {"whole"}


def test_the_threads_of_an_interrupted_leader_get_an_error(at_once):
    def die(_):
        raise SystemExit

    assert answers(at_once(die, insert("a"), insert("b"))) == [SystemExit, OperationalError, OperationalError]
    assert keys() == set()
    assert write_turns.run_shared(insert("c")) == "c"


@pytest.fixture
def interrupted(monkeypatch):
    """Return a function that runs a write in this thread, which an interrupt ends while it waits."""

    def interrupt(_):
        raise KeyboardInterrupt

    def run(work):
        with monkeypatch.context() as patch:
            patch.setattr(write_turns, "Future", type("Interrupted", (Future,), {"result": interrupt}))
            with pytest.raises(KeyboardInterrupt):
                write_turns.run_shared(work)

    return run


def test_an_interrupted_thread_does_not_lead(at_once, interrupted):
    interrupted(insert("a"))

    assert answers(at_once(insert("b"))) == ["b"]
    assert keys() == {"b"}


def test_an_interrupted_thread_that_waits_for_its_leader_writes_nothing(interrupted):
    with ThreadPoolExecutor(1) as threads, write_turns.turn():
        leader = threads.submit(in_thread, insert("a"))
        until(lambda: write_turns._waiting.leader is not None)
        interrupted(insert("b"))

    assert answers([leader]) == ["a"]
    assert keys() == {"a"}


def test_a_transaction_of_the_caller_is_refused():
    with transaction.atomic(), pytest.raises(RuntimeError, match="durable"):
        write_turns.run_shared(insert("a"))

    assert keys() == set()


def test_many_writers_lose_nothing():
    def work(number):
        try:
            return [write_turns.run_shared(insert(f"{number}-{turn}")) for turn in range(10)]
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        answers = [key for found in threads.map(work, range(8)) for key in found]

    assert len(answers) == len(set(answers)) == 80
    assert keys() == set(answers)
    assert write_turns._waiting.leader is None
