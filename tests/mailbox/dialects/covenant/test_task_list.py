"""The list of tasks in any state over HTTP."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.support import factories
from tests.support.api import Api

pytestmark = pytest.mark.django_db


def test_an_agent_lists_the_tasks_that_it_sent_or_receives_newest_first(alice, bob, mallory):
    for sender in (bob, mallory):
        factories.grant(sender, "a2a.send.*")
    ended = factories.resolved_task(alice, bob).task
    leased = factories.leased_task(alice, bob)
    factories.sent_task(mallory, alice)
    own = factories.sent_task(bob, bob)
    factories.sent_task(mallory, mallory)

    first = Api(bob).get("/a2a/tasks", limit=2).json()
    rest = Api(bob).get("/a2a/tasks", limit=2, cursor=first["next_cursor"]).json()

    listed = [*first["entries"], *rest["entries"]]
    assert [entry["task"]["id"] for entry in listed] == [str(task.uuid) for task in (own, leased.task, ended)]
    assert [entry["state"] for entry in listed] == ["queued", "in_flight", "resolved"]
    assert (listed[1]["lease_id"], listed[2]["outcome"]) == (str(leased.lease_id), "ok")
    assert "lease_id" not in listed[2]
    assert (first["kind"], rest["next_cursor"]) == ("a2a_task_entries", None)


def test_a_person_lists_all_tasks_newest_first(alice, bob, olga):
    factories.grant(bob, "a2a.send.*")
    tasks = [factories.sent_task(alice, bob), factories.sent_task(bob, alice), factories.sent_task(bob, bob)]

    listed = Api(olga).get("/a2a/tasks").json()["entries"]

    assert [entry["task"]["id"] for entry in listed] == [str(task.uuid) for task in reversed(tasks)]


def test_a_list_of_tasks_costs_as_many_queries_for_many_leases_as_for_one(alice, bob):
    api = Api(bob)
    factories.leased_task(alice, bob)
    api.get("/a2a/tasks")  # notes the use of the key
    with CaptureQueriesContext(connection) as of_one:
        api.get("/a2a/tasks")
    for _ in range(4):
        factories.leased_task(alice, bob)

    with CaptureQueriesContext(connection) as of_five:
        assert len(api.get("/a2a/tasks").json()["entries"]) == 5

    assert len(of_five) == len(of_one)
