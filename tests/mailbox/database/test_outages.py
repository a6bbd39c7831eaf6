import sqlite3
from collections.abc import Callable
from contextlib import closing

import pytest
from django.db import DatabaseError, InterfaceError, OperationalError, connection, transaction

from mailbox.database import outages
from mailbox.database.outages import Outage
from mailbox.models import RateWindow
from tests.support.pauses import Clock, Patience

pytestmark = pytest.mark.django_db(transaction=True)
on_sqlite = pytest.mark.skipif(connection.vendor != "sqlite", reason="a state of a SQLite file")
on_postgresql = pytest.mark.skipif(connection.vendor != "postgresql", reason="an error of PostgreSQL")


@pytest.fixture(autouse=True)
def memory(monkeypatch):
    memory = outages._Memory()
    monkeypatch.setattr(outages, "_memory", memory)
    return memory


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch):
    monkeypatch.setattr(outages, "time", Clock())


@pytest.fixture
def at_once(monkeypatch):
    """Let a rehearsal follow a refusal at once."""
    monkeypatch.setattr(outages, "REHEARSE_EVERY", 0.0)


def write(size: int = 2**20) -> None:
    RateWindow.objects.create(key="x", started_at="2026-01-01T00:00:00Z", counted="x" * size)


def error_of(act: Callable[..., object], *arguments: object) -> Exception:
    with pytest.raises(OperationalError) as raised:
        act(*arguments)
    return raised.value


def run(sql: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql)


def free_bytes() -> int:
    """Return the bytes of the file's unused pages, which earlier tests have left."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size")
        (found,) = cursor.fetchone()
    return int(found)


def raised_by_the_server(code: str) -> Exception:
    return error_of(run, f"DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '{code}', MESSAGE = 'no space'; END $$")


def file() -> str:
    return str(connection.settings_dict["NAME"])


@pytest.fixture
def full():
    run("PRAGMA max_page_count = 1")  # SQLite sets the number of pages that there are
    try:
        yield error_of(write, 2**20 + free_bytes())
    finally:
        run("PRAGMA max_page_count = 1000000000")


@on_sqlite
def test_a_full_file_is_an_outage(full):
    assert outages.kind(full) == Outage.FULL


@on_sqlite
def test_a_read_only_file_is_an_outage():
    run("PRAGMA query_only = ON")
    try:
        assert outages.kind(error_of(write)) == Outage.READ_ONLY
    finally:
        run("PRAGMA query_only = OFF")


@on_sqlite
def test_a_lock_longer_than_a_writer_s_patience_is_an_outage():
    run("PRAGMA busy_timeout = 0")
    try:
        with closing(sqlite3.connect(file(), isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            assert outages.kind(error_of(write)) == Outage.LOCKED
    finally:
        run("PRAGMA busy_timeout = 10000")


@on_postgresql
@pytest.mark.parametrize(("code", "outage"), [("53100", Outage.FULL), ("58030", Outage.BROKEN), ("55P03", None)])
def test_errors_of_the_server_are_outages_by_their_code(code, outage):
    assert outages.kind(raised_by_the_server(code)) == outage


def test_a_database_that_takes_changes_has_no_outage_and_no_row_is_left():
    assert outages.standing() is None
    assert outages._rehearsed() is None
    assert not RateWindow.objects.exists()


def test_a_refused_change_is_an_outage_until_a_rehearsal_succeeds(memory, monkeypatch):
    error = OperationalError("database or disk is full")
    error.__cause__ = sqlite3.OperationalError()
    error.__cause__.sqlite_errorcode = sqlite3.SQLITE_FULL
    outages.note(error)

    at_first = outages.standing()
    monkeypatch.setattr(outages, "REHEARSE_EVERY", 0.0)

    assert (at_first, outages.standing(), memory.refused) == (Outage.FULL, None, None)


@on_postgresql
@pytest.mark.usefixtures("at_once")
def test_a_rehearsal_that_fails_keeps_the_outage():
    outages.note(raised_by_the_server("58030"))
    run(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION USING ERRCODE = '53100', MESSAGE = 'no space'; END $$"
    )
    run("CREATE TRIGGER refusal BEFORE INSERT ON mailbox_ratewindow EXECUTE FUNCTION refuse()")
    try:
        during = [outages.standing(), outages.standing()]
    finally:
        run("DROP FUNCTION refuse CASCADE")

    assert during == [Outage.FULL, Outage.FULL]
    assert outages.standing() is None


@on_postgresql
def test_a_read_only_server_is_an_outage_before_any_change_is_refused():
    run("SET default_transaction_read_only = on")
    try:
        during = outages.standing()
    finally:
        run("SET default_transaction_read_only = off")

    assert (during, outages.standing()) == (Outage.READ_ONLY, None)


@on_sqlite
def test_a_lock_that_no_probe_gets_is_an_outage_after_a_while(monkeypatch):
    with closing(sqlite3.connect(file(), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        at_first = outages.standing()
        monkeypatch.setattr(outages, "LOCKED_AFTER", 0.0)
        later = outages.standing()
        other.execute("ROLLBACK")

    assert (at_first, later, outages.standing()) == (None, Outage.LOCKED, None)


@on_sqlite
@pytest.mark.usefixtures("at_once")
def test_a_locked_file_stays_locked_until_a_rehearsal_gets_the_lock(monkeypatch, memory):
    memory.refused = Outage.LOCKED, 0.0
    with closing(sqlite3.connect(file(), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        during = [outages.standing(), outages.standing()]
        other.execute("ROLLBACK")

    assert during == [Outage.LOCKED, Outage.LOCKED]
    assert outages.standing() is None


@on_sqlite
@pytest.mark.parametrize("refused", [None, (Outage.FULL, 0.0)])
@pytest.mark.usefixtures("at_once")
def test_a_disk_with_no_space_is_an_outage_before_any_change_is_refused(monkeypatch, memory, refused):
    memory.refused = refused
    monkeypatch.setattr(outages, "LEAST_FREE", 2**80)
    during = outages.standing()
    monkeypatch.setattr(outages, "LEAST_FREE", 1)

    assert (during, outages.standing()) == (Outage.FULL, None)


@on_sqlite
def test_a_missing_file_is_an_error_and_is_not_created(monkeypatch, tmp_path):
    missing = tmp_path / "hub.sqlite3"
    monkeypatch.setitem(connection.settings_dict, "NAME", missing)

    with pytest.raises(DatabaseError):
        outages.standing()

    assert not missing.exists()


def test_the_database_s_own_message_is_logged_once_in_a_while(caplog, memory):
    errors = [OperationalError("server closed\nthe connection"), OperationalError("again")]

    for error in errors:
        outages.note(error)
    memory.logged["OperationalError"] -= outages.LOG_EVERY
    outages.note(errors[1])

    assert [record.message for record in caplog.records] == [
        "the database failed: server closed the connection",
        "the database failed: again",
    ]


def fails(times: int, error: Exception) -> Callable[[], int]:
    """Return an act that fails so often, and then returns how often it ran."""
    runs = []

    @outages.outlasted
    def act() -> int:
        runs.append(1)
        if len(runs) <= times:
            raise error
        return len(runs)

    return act


@pytest.mark.parametrize("error", [OperationalError("away"), InterfaceError("closed")])
def test_an_act_that_outlasts_runs_until_the_database_is_back(error, caplog):
    with outages.outlasting(patience := Patience()):
        assert fails(8, error)() == 9

    assert patience.pauses == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0]
    assert len(caplog.records) == 1


def test_a_stop_lets_an_act_run_once_more():
    with outages.outlasting(patience := Patience(ends_after=2)), pytest.raises(OperationalError):
        fails(100, OperationalError("away"))()

    assert patience.pauses == [0.1, 0.2]


def test_an_act_runs_once_where_nothing_lets_it_outlast():
    act = fails(1, OperationalError("away"))
    with outages.outlasting(Patience()):
        pass

    with pytest.raises(OperationalError):
        act()

    assert act() == 2


@on_sqlite
def test_another_cause_is_logged_beside_the_first(caplog, full):
    outages.note(OperationalError("elsewhere"))
    outages.note(full)

    assert "the database failed: database or disk is full" in caplog.messages


@on_postgresql
def test_reads_are_confirmed_by_a_commit():
    changes = []

    def note(execute, sql, params, many, context):
        execute(sql, params, many, context)
        changes.append(context["cursor"].fetchone()[0])

    with connection.execute_wrapper(note):
        outages.confirm_reads()

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_xact_status(%s::text::xid8)", changes)
        assert cursor.fetchone() == ("committed",)


@on_postgresql
def test_reads_of_a_transaction_are_confirmed_after_it(django_assert_num_queries):
    with transaction.atomic(), django_assert_num_queries(0):
        outages.confirm_reads()


@on_sqlite
def test_reads_of_sqlite_need_no_commit(django_assert_num_queries):
    with django_assert_num_queries(0):
        outages.confirm_reads()
