"""The answers of a hub that was stopped or killed, and then started again with the same data."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from a2a_hub_client import Answer
from a2a_hub_client import Hub as Client
from a2a_hub_client.models.administration import RepairOutcome
from a2a_hub_client.models.tasks import LeasedTask
from tests.load.cast import operator_key
from tests.support.databases import Databases
from tests.support.hub import Hub, served
from tests.support.own_client import client_of

RIGHTS = {"alice": "a2a.send.*", "bob": "a2a.respond.*", "carol": "a2a.respond.*"}
KEY = "report-1"


class Cast:
    """The clients of a hub's three agents and of its operator."""

    def __init__(self, url: str, keys: dict[str, str]) -> None:
        self.operator, self.alice, self.bob, self.carol = (
            client_of(url, keys[name]) for name in ("operator", "alice", "bob", "carol")
        )

    def close(self) -> None:
        for client in (self.operator, self.alice, self.bob, self.carol):
            client.close()

    def send(self, to: str = "bob", **fields: Any) -> UUID:
        return self.alice.send(to, "summarise the report", **fields).id

    def drained(self) -> UUID | None:
        """Drain a result; return the id of its task, None if there is none."""
        results = self.alice.drain(wait=0).results
        return results[0].task_id if results else None


class Story:
    """A hub that is started several times with the same data."""

    def __init__(self, folder: Path, database_url: str) -> None:
        self._folder, self._database_url = folder, database_url
        self._keys: dict[str, str] = {}

    @contextmanager
    def served(self) -> Iterator[tuple[Hub, Cast]]:
        with served(self._folder, migrates=not self._keys, database_url=self._database_url) as hub:
            if not self._keys:
                self._introduce(hub)
            cast = Cast(hub.url, self._keys)
            try:
                yield hub, cast
            finally:
                cast.close()

    def _introduce(self, hub: Hub) -> None:
        self._keys["operator"] = operator_key(hub)
        with client_of(hub.url, self._keys["operator"]) as operator:
            for name, action in RIGHTS.items():
                self._keys[name] = operator.add_agent(name).api_key
                operator.grant(name, action)


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory, migrated_database: Databases) -> Iterator[tuple[Requeued, Cached]]:
    """Serve a hub three times with the same data, killed once and stopped once; return its answers."""
    with migrated_database() as url:
        story, requeued, cached = Story(tmp_path_factory.mktemp("hub"), url), Requeued(), Cached()
        with story.served() as (hub, cast):
            requeued.first_hub(cast)
            cached.first_hub(cast)
            hub.process.send_signal(signal.SIGKILL)
            hub.process.wait()
        with story.served() as (_, cast):
            requeued.second_hub(cast)
            cached.second_hub(cast)
        with story.served() as (_, cast):
            requeued.third_hub(cast)
            cached.third_hub(cast)
        yield requeued, cached


def leased_by(worker: Client) -> LeasedTask | None:
    leases = worker.receive(wait=0).leases
    return leases[0] if leases else None


def requeue(cast: Cast, task_id: UUID) -> RepairOutcome:
    return cast.operator.task(task_id).requeue("its worker is gone", duplicate_risk="operator_accepted")


class Requeued:
    """A task of carol, whose worker is gone. It is requeued after the first restart and after the second."""

    def first_hub(self, cast: Cast) -> None:
        self.task_id = cast.send("carol")
        self.first = leased_by(cast.carol)

    def second_hub(self, cast: Cast) -> None:
        (self.in_flight,) = cast.carol.queue(min_lease_age=0.001)
        self.nothing = leased_by(cast.carol)
        self.outcome = requeue(cast, self.task_id)

    def third_hub(self, cast: Cast) -> None:
        (self.queued,) = cast.carol.queue()
        self.second = leased_by(cast.carol)
        requeue(cast, self.task_id)
        self.third = leased_by(cast.carol)
        self.timeline = list(cast.alice.task(self.task_id).timeline())


class Cached:
    """Tasks of bob: the first is answered and drained, the second fails.

    The answer of the third is cached, and a duplicate waits for it.
    """

    def first_hub(self, cast: Cast) -> None:
        self.drained, self.forced = cast.send(), cast.send()
        self.leader, self.waiter = cast.send(idempotency_key=KEY), cast.send(idempotency_key=KEY)
        self.later = [cast.send(kind="later", parent=self.leader) for _ in range(2)]
        self.taken = [leased.task.id for _ in range(3) if (leased := leased_by(cast.bob))]
        cast.bob.post_result(Answer(task_id=self.drained))
        cast.operator.task(self.forced).fail("gave up", reason="stuck")
        self.first = cast.drained()

    def second_hub(self, cast: Cast) -> None:
        self.entries = {entry.task.id: entry for entry in cast.alice.queue()}
        (self.pending,) = cast.alice.drain(wait=0).results
        self.leased_later = [leased.task for _ in range(2) if (leased := leased_by(cast.bob))]
        cast.bob.post_result(Answer(task_id=self.leader))

    def third_hub(self, cast: Cast) -> None:
        self.duplicate = cast.send(idempotency_key=KEY)
        self.answered = [cast.drained() for _ in range(3)]
        self.rest, self.unleased = cast.drained(), leased_by(cast.bob)


@pytest.mark.smoke
def test_a_requeued_task_keeps_its_id_and_attempt_across_restarts(said: tuple[Requeued, Cached]) -> None:
    seen, _ = said
    task_id = seen.task_id
    assert seen.first
    assert seen.second
    assert seen.third

    in_flight = (seen.in_flight.state, seen.in_flight.lease_id, seen.in_flight.attempt)
    assert in_flight == ("in_flight", seen.first.lease.id, 1)
    assert seen.nothing is None
    outcome = (seen.outcome.task_id, seen.outcome.action, seen.outcome.state, seen.outcome.attempt)
    assert outcome == (task_id, "requeued", "queued", 1)
    assert (seen.queued.state, seen.queued.task.id, seen.queued.attempt) == ("queued", task_id, 1)
    assert [leased.task.id for leased in (seen.second, seen.third)] == [task_id] * 2
    assert [leased.lease.attempt for leased in (seen.second, seen.third)] == [2, 3]
    leased_and_returned = ["a2a_task_leased", "a2a_repair_applied"]
    kinds = [event.kind for event in seen.timeline]
    assert kinds == ["a2a_task_sent", *leased_and_returned * 2, "a2a_task_leased"]


@pytest.mark.smoke
def test_results_cache_and_waiting_duplicates_survive_restarts(said: tuple[Requeued, Cached]) -> None:
    _, seen = said

    assert (seen.taken, seen.first) == ([seen.drained, seen.forced, seen.leader], seen.drained)
    assert (seen.pending.task_id, seen.pending.error_message) == (seen.forced, "gave up")
    leader, waiter = seen.entries[seen.leader], seen.entries[seen.waiter]
    assert (leader.state, waiter.waits_on) == ("in_flight", seen.leader)
    assert [(task.id, task.kind, task.parent) for task in seen.leased_later] == [
        (task_id, "later", seen.leader) for task_id in seen.later
    ]
    promise = waiter.task.idempotency
    assert promise
    assert (promise.duplicate_safety, promise.key) == ("idempotent", KEY)
    assert seen.answered == [seen.leader, seen.waiter, seen.duplicate]
    assert (seen.rest, seen.unleased) == (None, None)
