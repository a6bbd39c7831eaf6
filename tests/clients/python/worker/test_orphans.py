"""Leases of crashed workers are taken over, and those of live workers are left alone."""

from __future__ import annotations

import threading
from uuid import uuid4

import pytest

from a2a_hub_client import Hub
from a2a_hub_client.refusals import ForbiddenError, LeaseMismatchError
from a2a_hub_client.worker.client import WorkerClient
from a2a_hub_client.worker.leased_task import LeasedTask, TaskResult
from a2a_hub_client.worker.orphans import Orphans
from tests.support import factories
from tests.support.races import answers
from tests.support.workers import await_lease, result_of, text_of

KEY = {"duplicate_safety": "idempotent", "key": "k"}


class Scripted:
    """A hub whose lists of leases are scripted. Each lease is (id, time of the last heartbeat)."""

    def __init__(self, *script, **task):
        self.script = list(script)
        self.task = task
        self.released = []

    def leases(self):
        step = self.script.pop(0)
        if isinstance(step, Exception):
            raise step
        return [
            {"lease_id": name, "last_seen_at_ms": seen, "task": {"id": f"task of {name}", **self.task}}
            for name, seen in step
        ]

    def release_lease(self, task_id, lease_id, reason):
        self.released.append((lease_id, reason))

    def lease(self, task_id, attempt_id):
        return LeasedTask(task={"id": task_id}, lease_id="new", attempt=2, time_limit=None)


def orphans_of(hub, which="all", silence=0.0):
    stopping, abandon = threading.Event(), threading.Event()
    return Orphans(hub, which=which, silence=silence, stopping=stopping, abandon=abandon, say=lambda _: None)


def taken_by(orphans):
    found = []
    while (leased := orphans.take_over()) is not None:
        found.append(leased.id)
    return found


def looked_twice(hub, which="all"):
    orphans = orphans_of(hub, which)
    orphans.look()
    assert orphans.take_over() is None
    orphans.look()
    return taken_by(orphans)


def test_a_lease_whose_heartbeats_stand_still_is_taken_over_and_others_are_not():
    hub = Scripted([("dead", 1), ("live", 1), ("ended", 1)], [("dead", 1), ("live", 2), ("later", 1)])

    assert looked_twice(hub) == ["task of dead"]

    assert hub.released == [("dead", "taken over: its worker sent no heartbeat for 0 s")]


def test_no_lease_is_taken_over_before_the_silence_is_over():
    hub = Scripted([("dead", 1)])
    orphans = orphans_of(hub, silence=600)
    orphans.look()
    orphans.look()

    assert taken_by(orphans) == []


@pytest.mark.parametrize(("idempotency", "taken"), [({"idempotency": KEY}, ["task of dead"]), ({}, [])])
def test_idempotent_takes_over_only_tasks_that_their_sender_calls_so(idempotency, taken):
    hub = Scripted([("dead", 1)], [("dead", 1)], **idempotency)

    assert looked_twice(hub, "idempotent") == taken


def test_a_worker_that_resumes_nothing_does_not_look():
    assert looked_twice(Scripted(), "none") == []


def test_a_refused_key_ends_the_look():
    assert looked_twice(Scripted(ForbiddenError("unknown key"))) == []


@pytest.fixture
def orphan(desk, alice, bob):
    """Send a task and lease it as a worker that crashed would; return both."""
    task = factories.sent_task(alice, bob)
    with Hub(desk.url, desk.key) as hub:
        (leased,) = WorkerClient(hub).receive(uuid4(), most=1, wait=0)
    return task, leased


def test_a_restarted_worker_goes_on_with_the_tasks_of_its_predecessor(desk, orphan):
    task, _ = orphan

    assert desk.run("sh", "-c", "echo $A2A_ATTEMPT", resume_after=0.1) is None

    assert text_of(result_of(task)) == "2"
    (released,) = factories.journal("a2a_task_released")
    assert released.fields["reason"] == "taken over: its worker sent no heartbeat for 0.1 s"
    assert [lease.end for lease in task.leases.order_by("attempt")] == ["release", "result"]


def test_of_two_workers_that_take_over_at_once_one_gets_the_task(desk, orphan):
    task, old = orphan
    with Hub(desk.url, desk.key) as line:
        hub = WorkerClient(line)
        both = [orphans_of(hub), orphans_of(hub)]
        for orphans in (*both, *both):
            orphans.look()

        taken = answers(both[0].take_over, both[1].take_over)

        (leased,) = [one for one in taken if one is not None]
        assert str(await_lease(task).lease_id) == leased.lease_id
        assert leased.attempt == 2
        with pytest.raises(LeaseMismatchError):
            hub.answer(old, TaskResult(text="late"))
        hub.answer(leased, TaskResult(text="done"))
    assert text_of(result_of(task)) == "done"
