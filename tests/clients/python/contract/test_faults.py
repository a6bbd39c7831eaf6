"""Clients whose requests and answers are lost on the way: nothing is lost, and nothing is done twice."""

import contextlib
import random
from collections import Counter
from typing import Any
from uuid import UUID

import httpx
import pytest

from a2a_hub_client import Answer, NewTask, NotNowError, Retry, Update
from a2a_hub_client._sync import connection
from tests.support.pauses import Clock

QUICK = Retry(first_pause=0.001, longest_pause=0.01, patience=60)
NUMBER = 30


class Faults(httpx.BaseTransport):
    """Loses half of all requests and answers, or delivers a request twice. The choices come from a seed."""

    def __init__(self, inner, seed):
        self._inner = inner
        self._chance = random.Random(seed)  # noqa: S311 (a seeded run, not a secret)
        self.struck: Counter[str] = Counter()

    def handle_request(self, request):
        fault = self._chance.choice(["before", "after", "twice", "", "", ""])
        self.struck[fault] += 1
        if fault == "before":
            raise httpx.ConnectError("lost on its way to the hub")
        answer = self._inner.handle_request(request)
        answer.read()
        if fault == "after":
            raise httpx.ReadError("lost on its way back")
        return self._inner.handle_request(request) if fault == "twice" else answer

    def close(self):
        self._inner.close()


@pytest.fixture(params=[1, 2])
def faulty(request, world, monkeypatch):
    """Return a client by name. Its network has faults, and it repeats a request at once."""
    monkeypatch.setattr(connection, "time", Clock())
    opened = []

    def hub(name, retry=QUICK):
        opened.append(world.hub(name, faults=lambda inner: Faults(inner, request.param), retry=retry))
        return opened[-1]

    yield hub
    struck: Counter[str] = sum((client._transport.replaced.struck for client in opened), Counter())
    assert {"before", "after", "twice"} <= struck.keys()
    for client in opened:
        client.close()


def test_each_task_is_done_once(faulty):
    alice, bob = faulty("alice"), faulty("bob")
    sent = [alice.send("bob", str(number)).id for number in range(NUMBER)]

    done: list[tuple[Any, Any]] = []
    while len(done) < NUMBER:
        for leased in bob.receive(most=3, wait=0).leases:
            bob.post_updates(leased.task.id, [Update.saying("begun")], lease_id=leased.lease.id)
            bob.post_result(Answer(task_id=leased.task.id, lease_id=leased.lease.id, content=leased.task.text))
            done.append((leased.task.id, leased.lease.attempt))
    found = [result.task_id for result in alice.results(wait=0)]

    assert done == [(task_id, 1) for task_id in sent]
    assert found == sent
    for task_id in sent:
        assert [message.text for message in alice.task(task_id).messages()][1:] == ["begun"]


def test_batches_are_stored_once(faulty):
    alice, bob = faulty("alice"), faulty("bob")

    sent = [task.id for task in alice.send_many(NewTask(to="bob", text=str(number)) for number in range(NUMBER))]
    leases: list[Any] = []
    answers: list[Any] = []
    while len(leases) < NUMBER:
        received = bob.receive(most=7, wait=0, answers=answers)
        assert received.refused == []
        leases += received.leases
        answers = [Answer(task_id=one.task.id, lease_id=one.lease.id, content=one.task.text) for one in received.leases]
    bob.post_results(answers)

    assert [one.task.id for one in leases] == sent
    assert [result.task_id for result in alice.results(wait=0, batch=4)] == sent


def test_a_consumer_that_gives_up_loses_nothing(faulty, bob):
    alice, impatient = faulty("alice"), faulty("alice", Retry(patience=0))
    sent = [alice.send("bob", str(number)).id for number in range(NUMBER)]
    leases = bob.receive(most=NUMBER).leases
    bob.post_results([Answer(task_id=one.task.id, lease_id=one.lease.id) for one in leases])

    found: list[UUID] = []
    for _ in range(NUMBER):
        with contextlib.suppress(NotNowError):  # the consumer dies, and another one starts
            _take(impatient, found)
    _take(alice, found)

    assert set(found) == set(sent)


def _take(client, found):
    for result in client.results(wait=0):
        found.append(result.task_id)
