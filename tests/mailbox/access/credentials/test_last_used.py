"""When keys were last used: written for a crowd together, and never a reason to refuse a request."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from django.db import connection, transaction
from django.utils import timezone

from mailbox.access.credentials import authentication, last_used
from mailbox.models import ApiKey, AuditEvent
from tests.support import factories
from tests.support.pauses import until

pytestmark = pytest.mark.django_db(transaction=True)

CROWD = 12


def use(key):
    try:
        return authentication.authenticate(key, source=AuditEvent.Source.API)
    finally:
        connection.close()


def hold(owner, is_held, may_end):
    """Lock the owner's key, on SQLite the whole database, until ``may_end``."""
    with transaction.atomic():
        ApiKey.objects.select_for_update().get(agent=owner.agent)
        is_held.set()
        may_end.wait()
    connection.close()


@contextmanager
def crowd_of(keys):
    """Let a thread use each key, all while another thread writes uses. Their uses wait in the block."""
    with ThreadPoolExecutor(len(keys)) as pool, last_used._here.turn:
        callers = [pool.submit(use, key) for key in keys]
        until(lambda: len(last_used._here.unwritten) == len(keys))
        yield callers


def test_a_crowd_that_comes_at_once_shares_one_commit(monkeypatch):
    keys = [factories.key_of(factories.agent(f"waiter{number}")) for number in range(CROWD)]
    written, write = [], last_used._write

    def count(used, of):
        written.append(len(of))
        write(used, of)

    monkeypatch.setattr(last_used, "_write", count)

    with crowd_of(keys) as callers:
        assert not any(caller.done() for caller in callers)

    assert [caller.result().credential is not None for caller in callers] == [True] * CROWD
    assert written == [CROWD]
    assert not ApiKey.objects.filter(last_used_at=None).exists()


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite locks no rows")
def test_a_locked_key_holds_up_no_other(alice, bob):
    held, free = factories.key_of(alice), factories.key_of(bob)
    is_held, may_end = threading.Event(), threading.Event()
    with ThreadPoolExecutor(2) as pool:
        holder = pool.submit(hold, alice, is_held, may_end)
        try:
            assert is_held.wait()
            for key, caller in ((held, alice), (free, bob)):
                assert pool.submit(use, key).result().agent == caller.agent
            assert [key.agent for key in ApiKey.objects.exclude(last_used_at=None)] == [bob.agent]
        finally:
            may_end.set()
        holder.result()


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite locks no rows")
def test_a_crowd_does_not_wait_for_a_locked_key(alice, bob):
    held, free = factories.key_of(alice), factories.key_of(bob)
    is_held, may_end = threading.Event(), threading.Event()

    with ThreadPoolExecutor(1) as pool:
        holder = pool.submit(hold, alice, is_held, may_end)
        try:
            assert is_held.wait()
            with crowd_of([held, free]) as callers:
                pass
            assert [caller.result().agent for caller in callers] == [alice.agent, bob.agent]
            used = ApiKey.objects.exclude(last_used_at=None)
            assert [key.agent for key in used] == [bob.agent]
        finally:
            may_end.set()
        holder.result()


@pytest.fixture
def impatient():
    """Let this thread wait for no lock of SQLite. On PostgreSQL a use skips a locked key anyway."""
    if connection.vendor != "sqlite":
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout = 0")
        yield
        cursor.execute("PRAGMA busy_timeout = 10000")


@pytest.mark.usefixtures("impatient")
def test_a_use_that_cannot_be_written_refuses_no_reader(alice):
    key = factories.key_of(alice)
    is_held, may_end = threading.Event(), threading.Event()
    with ThreadPoolExecutor(1) as pool:
        holder = pool.submit(hold, alice, is_held, may_end)
        try:
            assert is_held.wait()
            assert authentication.authenticate(key, source=AuditEvent.Source.API).agent == alice.agent
        finally:
            may_end.set()
        holder.result()

    assert ApiKey.objects.get().last_used_at is None
    before = timezone.now()
    authentication.authenticate(key, source=AuditEvent.Source.API)
    assert ApiKey.objects.filter(last_used_at__gte=before).exists()
