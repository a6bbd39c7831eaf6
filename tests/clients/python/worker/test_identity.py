"""A worker notices before its first lease that its key belongs to another agent."""

import threading

import pytest

from a2a_hub_client import Hub
from a2a_hub_client.errors import NotNowError, RefusedError
from a2a_hub_client.refusals import ForbiddenError
from a2a_hub_client.retry import Retry
from a2a_hub_client.worker import client
from a2a_hub_client.worker.client import WorkerClient, foreign_key
from mailbox.access.callers import Role
from mailbox.models import Lease, Task
from tests.support import factories
from tests.support.own_client import client_of
from tests.support.workers import lease_of

BOB = {"agent": {"display": "bob@local", "pubkey": "the key"}, "person": None}


class Oracle(WorkerClient):
    """A hub whose answers are scripted: each is returned, or raised if it is an error."""

    def __init__(self, *script):
        super().__init__(Hub("http://hub.test", "key"))
        self.script = list(script)

    def me(self):
        step = self.script.pop(0)
        if isinstance(step, Exception):
            raise step
        return step


def owner(*script, name="bob", said=None):
    say = [].append if said is None else said.append
    return foreign_key(Oracle(*script), name, stopping=threading.Event(), say=say)


@pytest.mark.parametrize("name", ["bob", "bob@local", "the key"])
def test_an_agent_is_known_by_each_of_its_names(name):
    assert owner(BOB, name=name) is None


def test_another_agent_and_a_person_are_named():
    assert owner(BOB, name="carol") == "bob@local"
    assert owner({"agent": None, "person": "olga"}) == "the person olga"


@pytest.mark.parametrize("refusal", [RefusedError("unknown path"), ForbiddenError("unknown key")])
def test_a_hub_that_does_not_tell_is_not_asked_again(refusal):
    assert owner(refusal) is None


def test_a_hub_without_an_answer_is_asked_again(monkeypatch):
    monkeypatch.setattr(client, "PAUSES", Retry(patience=None, first_pause=0.0))
    said: list[str] = []

    assert owner(NotNowError("down"), NotNowError("down"), BOB, name="carol", said=said) == "bob@local"

    assert said == ["Cannot lease a task now, trying again: down", "The hub answers again."]


def test_a_worker_that_stops_asks_no_more():
    stopping = threading.Event()
    stopping.set()

    assert foreign_key(Oracle(NotNowError("down")), "bob", stopping=stopping, say=lambda _: None) is None


@pytest.mark.parametrize("batch", [None, 5])
@pytest.mark.django_db(transaction=True)
def test_a_worker_with_another_agent_s_key_leases_nothing(desk, alice, bob, batch):
    factories.sent_task(alice, bob)

    assert desk.run("cat", name="carol", batch=batch) == "the API key belongs to bob@local, not to carol"

    assert not Lease.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_the_command_ends_as_for_wrong_usage_also_without_a_task(desk):
    with desk.process("cat", name="carol") as worker:
        assert worker.code() == 2

    assert "the API key belongs to bob@local, not to carol" in worker.printed


@pytest.mark.django_db(transaction=True)
def test_the_key_of_a_person_is_refused_by_name(desk):
    desk.key = factories.key_of(factories.person("olga", Role.OPERATOR))

    assert desk.run("cat") == "the API key belongs to the person olga, not to bob"


@pytest.mark.django_db(transaction=True)
def test_the_client_reads_the_owner_of_its_key(desk, bob):
    with client_of(desk.url, desk.key) as hub:
        assert WorkerClient(hub).me()["agent"] == {"display": "bob@local", "pubkey": bob.agent.pubkey}


@pytest.mark.django_db(transaction=True)
def test_at_a_hub_of_an_earlier_version_the_first_task_shows_the_key_and_is_released(desk, alice, bob, monkeypatch):
    def refuse(_):
        raise RefusedError("Nothing is served at this path.")

    monkeypatch.setattr(WorkerClient, "me", refuse)
    task = factories.sent_task(alice, bob)

    assert desk.run("cat", name="carol") == "the API key belongs to bob@local, not to carol"

    task.refresh_from_db()
    assert (task.state, lease_of(task)) == (Task.State.QUEUED, None)
