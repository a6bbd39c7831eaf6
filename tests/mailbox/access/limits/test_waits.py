import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connections
from django.utils import timezone

from a2a_hub_client import HubError
from mailbox.access.agents import grants
from mailbox.access.callers import Caller
from mailbox.access.limits import own_limits, waits
from mailbox.access.nonces import Nonce
from mailbox.database import waiting
from mailbox.database.bell import waiters
from mailbox.database.bell.waiters import Waiter
from mailbox.life import leasing, results
from mailbox.life.fast_path import plain
from mailbox.models import ApiKey, SenderStock, SigningKey, Task
from mailbox.words import tokens
from mailbox.words.errors import QuotaExceededError, UnauthenticatedError
from tests.support import factories
from tests.support.api import Api
from tests.support.own_client import client_of
from tests.support.pauses import act_in_pauses, until

pytestmark = pytest.mark.django_db
LONG = timedelta(seconds=60)


@pytest.fixture(autouse=True)
def _limits_are_read_anew():
    own_limits.forget()
    yield
    own_limits.forget()


@pytest.fixture
def keyed(alice, bob):
    """Return bob, who may send to all agents, as the caller that presents a key of his."""
    factories.grant(bob, "a2a.send.*")
    factories.grant(alice, "a2a.respond.*")
    return replace(bob, credential=tokens.public_id(factories.key_of(bob)))


@pytest.fixture(params=["fast form", "whole form"])
def form(request, monkeypatch):
    if request.param == "whole form":
        for name in ("lease_task", "drain_result"):
            monkeypatch.setattr(plain, name, lambda *_: None)
    return request.param


def revoke(caller):
    ApiKey.objects.filter(public_id=caller.credential).update(revoked_at=timezone.now())


def expire(caller):
    ApiKey.objects.filter(public_id=caller.credential).update(expires_at=timezone.now())


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("end", [revoke, expire])
def test_a_key_that_ended_since_it_was_presented_takes_no_task(alice, keyed, end):
    factories.sent_task(alice, keyed)
    end(keyed)

    with pytest.raises(UnauthenticatedError):
        leasing.lease_tasks(keyed)
    assert Task.objects.get().attempt == 0


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("end", [revoke, expire])
def test_a_key_that_ended_since_it_was_presented_takes_no_result(alice, keyed, end):
    result = factories.resolved_task(keyed, alice)
    end(keyed)

    with pytest.raises(UnauthenticatedError):
        results.drain_results(keyed)
    result.refresh_from_db()
    assert result.delivery == "pending"


@pytest.mark.usefixtures("form")
def test_a_live_key_takes_tasks_and_results(alice, keyed):
    factories.sent_task(alice, keyed)
    factories.resolved_task(keyed, alice)

    assert len(leasing.lease_tasks(keyed)) == len(results.drain_results(keyed)) == 1


@pytest.mark.parametrize("end", [revoke, expire])
def test_a_wait_ends_once_the_watch_saw_that_its_key_ended(keyed, monkeypatch, end):
    act_in_pauses(monkeypatch, lambda: end(keyed), waits.end_without_key, lambda: None)

    with pytest.raises(UnauthenticatedError, match="revoked"):
        waits.until(keyed, lambda: None, LONG, [])
    assert waits.live(keyed.agent.pk) == 0
    assert not waits._keys


def test_a_wait_reads_no_key_of_its_own(keyed, monkeypatch, django_assert_num_queries):
    act_in_pauses(monkeypatch, *[lambda: None] * 5)

    with django_assert_num_queries(1):  # of the agents' own limits
        waits.until(keyed, lambda: None, LONG, [])


def test_the_keys_of_all_waits_are_read_together(alice, bob, mallory, monkeypatch, django_assert_num_queries):
    callers = [replace(one, credential=tokens.public_id(factories.key_of(one))) for one in (alice, bob, mallory)]
    revoke(callers[1])
    keys = {Waiter([]): waits._Key(caller) for caller in callers}
    monkeypatch.setattr(waits, "_keys", keys)

    with django_assert_num_queries(1):
        waits.end_without_key()

    assert [key.has_ended for key in keys.values()] == [False, True, False]
    assert [waiter.is_rung for waiter in keys] == [False, True, False]


def test_a_wait_without_a_free_seat_of_the_process_answers_at_once(keyed, settings, monkeypatch):
    settings.WEB_THREADS = 1
    waited = []
    act_in_pauses(monkeypatch, lambda: waited.append("in process"))
    refused = waiting.seats.refused

    assert waits.until(keyed, lambda: None, LONG, []) is None
    assert waited == []
    assert waits.until(Caller.local(keyed.agent), lambda: None, LONG, []) is None
    assert waited == ["in process"]
    assert (waiting.seats.refused - refused, waiting.seats.taken) == (1, 0)


def holding(caller, release):
    """Start a wait that ends with ``release``; return its thread."""
    topic = f"test {id(release)}"
    thread = threading.Thread(target=lambda: waits.until(caller, release.is_set, LONG, [topic]), daemon=True)
    thread.start()
    return thread


@pytest.fixture
def full(bob, alice, settings):
    """Let bob have two waits, and both be taken."""
    settings.A2A_QUOTA_WAITS = 2
    own_limits.waits(bob.agent.pk)  # threads have connections of their own, which see no row of this test
    release = threading.Event()
    threads = [holding(bob, release) for _ in range(2)]
    until(lambda: waits.live(bob.agent.pk) == 2)
    yield
    release.set()
    waiters.wake_all()
    for thread in threads:
        thread.join()
    assert waits.live(bob.agent.pk) == 0


@pytest.mark.usefixtures("full")
def test_an_agent_waits_in_few_requests_at_once(bob):
    with pytest.raises(QuotaExceededError, match="its quota of 2 waiting requests"):
        waits.until(bob, lambda: None, LONG, [])

    (row,) = factories.journal("a2a_quota_exceeded")
    assert row.fields == {"quota": "waits", "agent": "bob@local", "limit": 2}


@pytest.mark.usefixtures("full")
def test_a_request_that_need_not_wait_needs_no_seat(alice, bob):
    assert waits.until(bob, lambda: "at once", LONG, []) == "at once"
    assert waits.until(bob, lambda: None, timedelta(0), []) is None
    assert waits.until(alice, lambda: None, timedelta(milliseconds=1), []) is None
    assert waits.until(Caller.local(bob.agent), lambda: None, timedelta(milliseconds=1), []) is None


@pytest.mark.usefixtures("full")
def test_a_wait_too_many_answers_429(bob):
    response = Api(bob).get("/a2a/tasks/next", wait_ms=1000)

    assert (response.status_code, response.json()["code"], response["Retry-After"]) == (429, "quota_exceeded", "1")
    assert response["RateLimit-Policy"] == '"waits";q=2'


@pytest.fixture
def person(olga):
    """Return olga, an operator, as the caller that presents a key of hers."""
    return replace(olga, credential=tokens.public_id(factories.key_of(olga)))


def retire(caller):
    User.objects.filter(username="olga").update(is_active=False)


def dismiss(caller):
    User.objects.get(username="olga").groups.clear()


@pytest.mark.parametrize("end", [revoke, expire, retire, dismiss])
def test_a_persons_wait_ends_once_the_watch_saw_that_the_key_ended(person, monkeypatch, end):
    act_in_pauses(monkeypatch, lambda: end(person), waits.end_without_key, lambda: None)

    with pytest.raises(UnauthenticatedError, match="revoked"):
        waits.until(person, lambda: None, LONG, [])
    assert waits.live(person.name) == 0


def test_a_persons_wait_goes_on_while_the_key_is_live(person, monkeypatch):
    rounds = []
    act_in_pauses(monkeypatch, waits.end_without_key, lambda: rounds.append(1))

    assert waits.until(person, lambda: None, LONG, []) is None
    assert rounds == [1]


def test_a_person_waits_in_few_requests_at_once(person, olga, alice, bob, settings):
    settings.A2A_QUOTA_WAITS = 1
    task = factories.sent_task(alice, bob)
    release = threading.Event()
    thread = holding(olga, release)  # without a key, since the thread would not see that of this test
    until(lambda: (waits.live(person.name), waiting.seats.taken) == (1, 1))

    response = Api(person).get(f"/a2a/tasks/{task.uuid}/messages", after=1, wait_ms=1000)

    assert (response.status_code, response.json()["code"]) == (429, "quota_exceeded")
    release.set()
    waiters.wake_all()
    thread.join()
    assert (waits.live(person.name), waiting.seats.taken) == (0, 0)


def test_an_agent_may_have_waits_of_its_own(bob):
    SenderStock.objects.create(agent=factories.row_of(bob), max_waits=0)

    with pytest.raises(QuotaExceededError):
        waits.until(bob, lambda: None, LONG, [])


@pytest.mark.django_db(transaction=True)
def test_a_waiting_request_with_a_revoked_key_gets_no_task_that_is_sent_later(alice, bob, olga, served_hub):
    key = factories.key_of(bob)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(received, served_hub.url, key)
        until(lambda: waiting.done() or ApiKey.objects.filter(last_used_at__isnull=False).exists())
        assert not waiting.done(), waiting.result()
        revoke(replace(bob, credential=tokens.public_id(key)))
        task = factories.sent_task(alice, bob)

        assert waiting.result() == 401
    task.refresh_from_db()
    assert (task.state, task.attempt) == ("queued", 0)
    connections.close_all()


def received(url, key):
    """Wait half a minute for a task; return the leases, or the status of a refusal.

    The client repeats the request if another test has ended the hub's database session, such as a migration does.
    """
    with client_of(url, key) as worker:
        try:
            return worker.receive(wait=30).leases
        except HubError as error:
            return error.status


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("is_retired", [True, False])
def test_a_signing_key_that_was_retired_since_it_signed_takes_nothing(alice, keyed, is_retired):
    nonce = Nonce("k" * 43, "n1", timezone.now() + LONG)
    nonce.is_spent = True  # by an earlier look of the request
    retired_at = timezone.now() if is_retired else None
    SigningKey.objects.create(agent=keyed.agent, pubkey="k" * 43, proven_at=timezone.now(), retired_at=retired_at)
    signer = replace(keyed, credential="", nonce=nonce)
    factories.sent_task(alice, keyed)
    factories.resolved_task(keyed, alice)

    for receive in (leasing.lease_tasks, results.drain_results):
        if is_retired:
            with pytest.raises(UnauthenticatedError):
                receive(signer)
        else:
            assert len(receive(signer)) == 1


def test_strangers_of_one_site_have_few_seats_and_leave_the_others_to_other_sites(bob):
    grants.open_to_anyone(Caller.command_line(), bob.agent)

    def stranger_at(address):
        stranger = grants.anonymous_caller(factories.row_of(bob), request_id="", address=address)
        assert stranger
        return stranger

    shared = factories.row_of(stranger_at("192.0.2.1")).pk
    sites = [["2001:db8:1:1::1", "2001:db8:1:2::2"], ["192.0.2.1", "192.0.2.1"]]
    for addresses in sites:
        strangers = list(map(stranger_at, addresses))
        with ExitStack() as stack:
            for number in range(waits.OF_A_SITE):
                stack.enter_context(waits.vigil(strangers[number % 2], []))
            with pytest.raises(QuotaExceededError, match="its quota of 4 waiting requests"):
                stack.enter_context(waits.vigil(strangers[0], []))
            for address in ("2001:db8:2::1", "192.0.2.2"):
                stack.enter_context(waits.vigil(stranger_at(address), []))
            assert waits.live(shared) == waits.OF_A_SITE + 2
        assert waits.live(shared) == 0
