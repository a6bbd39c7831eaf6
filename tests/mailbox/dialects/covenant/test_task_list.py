"""The list of tasks in any state over HTTP."""

from uuid import UUID

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


@pytest.mark.parametrize("prefix", ["abcd", "ABCDEF00", "abcdef00-0000-4000-8000-00000000000"])
def test_tasks_are_found_by_the_beginning_of_their_ids(alice, bob, mallory, olga, prefix):
    factories.grant(mallory, "a2a.send.*")
    ids = [UUID(f"abcdef00-0000-4000-8000-00000000000{last}") for last in "12"]
    first, other = factories.sent_task(alice, bob, id=ids[1]), factories.sent_task(mallory, alice, id=ids[0])
    factories.sent_task(alice, bob, id=UUID("abce0000-0000-4000-8000-000000000000"))

    found = {
        who.name: [entry["task"]["id"] for entry in Api(who).get("/a2a/tasks", id_prefix=prefix).json()["entries"]]
        for who in (alice, bob, mallory, olga)
    }

    newest_first = [str(other.uuid), str(first.uuid)]
    assert found == {
        alice.name: newest_first,
        bob.name: [str(first.uuid)],
        mallory.name: [str(other.uuid)],
        olga.name: newest_first,
    }


def test_the_beginning_of_an_id_has_pages(alice, bob):
    for last in "123":
        factories.sent_task(alice, bob, id=UUID(f"abcdef00-0000-4000-8000-00000000000{last}"))

    first = Api(bob).get("/a2a/tasks", id_prefix="abcd", limit=2).json()
    rest = Api(bob).get("/a2a/tasks", id_prefix="abcd", limit=2, cursor=first["next_cursor"]).json()

    assert [entry["task"]["id"][-1] for entry in [*first["entries"], *rest["entries"]]] == ["3", "2", "1"]
    assert rest["next_cursor"] is None


@pytest.mark.parametrize("prefix", ["", "abc", "abcg", "abcd--ef", "a" * 33, "abcd-"])
def test_what_is_no_beginning_of_an_id_is_refused(bob, prefix):
    refused = Api(bob).get("/a2a/tasks", id_prefix=prefix)

    assert refused.status_code == 400
    assert "id_prefix" in refused.json()["fields"]
