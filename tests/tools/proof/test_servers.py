"""The proof's own PostgreSQL servers suffer what they should, and keep what they acknowledged."""

import random
import signal

import psycopg
import pytest

from tools.proof import servers

pytestmark = [pytest.mark.processes, pytest.mark.one_database]


@pytest.fixture(scope="module")
def pair(postgresql):
    with servers.pair() as made:
        with made.primary.connect() as admin:
            admin.execute("CREATE TABLE kept (number integer)")
        yield made


def write(url: str, number: int) -> None:
    with psycopg.connect(url, autocommit=True) as client:
        client.execute("INSERT INTO kept VALUES (%s)", [number])


def read(url: str) -> list[int]:
    with psycopg.connect(url, autocommit=True) as client:
        return [number for (number,) in client.execute("SELECT number FROM kept ORDER BY number")]


def test_a_promoted_standby_has_each_acknowledged_row_and_the_url_leads_to_it(pair):
    write(pair.url, 1)
    pair.fail_over()
    write(pair.url, 2)
    pair.rebuild()
    write(pair.url, 3)
    pair.fail_over()
    after = read(pair.url)
    pair.rebuild()

    assert {1, 2, 3} <= set(after)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGQUIT, signal.SIGKILL])
def test_a_server_that_was_stopped_or_killed_starts_again_with_its_rows(pair, number):
    write(pair.primary.url, 10 + number)
    if number == signal.SIGKILL:
        pair.primary.kill()
    else:
        pair.primary.stop(number)
    with pytest.raises(psycopg.OperationalError):
        write(pair.primary.url, 0)
    pair.primary.start()

    assert 10 + number in read(pair.primary.url)


def test_sessions_are_killed_and_terminated_and_the_server_recovers(pair):
    clients = [psycopg.connect(pair.primary.url, autocommit=True) for _ in range(2)]
    assert pair.primary.kill_a_session(random.Random(1))  # noqa: S311 (a seed, not a secret)
    for client in clients:  # the server ends the session that was not killed, once its recovery begins
        with pytest.raises(psycopg.OperationalError):
            client.execute("SELECT pg_sleep(30)")
    pair.primary.wait_until_ready()
    client = psycopg.connect(pair.primary.url, autocommit=True)

    assert pair.primary.terminate_sessions() >= 1
    with pytest.raises(psycopg.OperationalError):
        client.execute("SELECT 1")


def test_a_read_only_server_refuses_writes_until_it_is_writable_again(pair):
    pair.primary.configure("default_transaction_read_only", "on")
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        write(pair.primary.url, 30)
    pair.primary.configure("default_transaction_read_only", None)
    write(pair.primary.url, 31)

    assert {30, 31} & set(read(pair.primary.url)) == {31}
