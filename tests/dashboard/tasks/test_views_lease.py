"""A task and its lease are read by two queries. A change between them does not tear the entry."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection
from django.urls import reverse

from mailbox.access.callers import Caller
from mailbox.inspection import lists, tasks
from mailbox.life import leasing, results
from mailbox.models import Lease, Task
from tests.support import factories
from tests.support.api import Api

pytestmark = pytest.mark.django_db

LEASE_KEYS = {"lease_id", "leased_to", "leased_at_ms"}


@contextmanager
def before_the_leases_are_read(change: Callable[[], object]) -> Iterator[None]:
    """Make ``change`` once, right before the first query that selects leases."""
    changes = [change]

    def execute(run: Callable[..., Any], sql: str, *args: Any) -> Any:
        if changes and sql.startswith('SELECT "mailbox_lease".'):
            changes.pop()()
        return run(sql, *args)

    with connection.execute_wrapper(execute):
        yield
    assert not changes, "no query selected leases"


@pytest.fixture
def lease(alice: Caller, bob: Caller) -> Lease:
    return factories.leased_task(alice, bob)


def ended(bob: Caller, lease: Lease) -> Callable[[], object]:
    return lambda: results.post_result(bob, factories.result_envelope(lease.task))


def leased_again(bob: Caller, lease: Lease) -> Callable[[], object]:
    def change() -> None:
        leasing.release(bob, lease.task.uuid, reason="r")
        leasing.lease_tasks(bob)

    return change


CHANGES = pytest.mark.parametrize("change", [ended, leased_again])


@CHANGES
def test_the_entry_of_a_route_has_the_lease_of_its_state(alice, bob, lease, change):
    with before_the_leases_are_read(change(bob, lease)):
        entry = Api(alice).get(f"/a2a/tasks/{lease.task.uuid}/entry").json()["entry"]

    assert (entry["state"], entry["attempt"], entry["lease_id"]) == ("in_flight", 1, str(lease.lease_id))
    assert entry.keys() >= LEASE_KEYS


@CHANGES
def test_an_entry_has_the_lease_of_its_state(alice, bob, lease, change):
    with before_the_leases_are_read(change(bob, lease)):
        entry = tasks.task(alice, lease.task.uuid)

    assert (entry.task.state, entry.task.attempt, entry.lease) == (Task.State.IN_FLIGHT, 1, lease)


@CHANGES
def test_the_json_of_the_dashboard_has_the_lease_of_its_state(ana, bob, lease, change):
    with before_the_leases_are_read(change(bob, lease)):
        entry = json.loads(ana.get(reverse("ops:task-json", args=[lease.task.uuid])).getvalue())["entry"]

    assert (entry["state"], entry["attempt"], entry["lease_id"]) == ("in_flight", 1, str(lease.lease_id))


@CHANGES
def test_the_page_of_a_task_shows_the_lease_of_its_state(ana, bob, lease, change):
    with before_the_leases_are_read(change(bob, lease)):
        shown = ana.get(reverse("ops:task", args=[lease.task.uuid])).context

    assert (shown["task"].state, shown["lease"]) == (Task.State.IN_FLIGHT, lease)


def test_the_page_of_a_queued_task_shows_no_later_lease(ana, alice, bob):
    task = factories.sent_task(alice, bob)

    with before_the_leases_are_read(lambda: leasing.lease_tasks(bob)):
        shown = ana.get(reverse("ops:task", args=[task.uuid])).context

    assert (shown["task"].state, shown["lease"]) == (Task.State.QUEUED, None)


@CHANGES
def test_the_queue_lists_leases_with_their_state(alice, bob, lease, change):
    queued = factories.sent_task(alice, bob)

    with before_the_leases_are_read(change(bob, lease)):
        entries = lists.queue(Caller.local()).items

    assert queued in [entry.task for entry in entries]
    assert all((entry.task.state == Task.State.IN_FLIGHT) == (entry.lease is not None) for entry in entries)
