from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from mailbox.words.times import epoch_ms
from tests.support import factories, talking
from tests.support.api import Api, error_of

pytestmark = pytest.mark.django_db

MOMENT = datetime(2030, 1, 1, tzinfo=UTC)
ROUTES = pytest.mark.parametrize("route", ["/a2a/queue", "/a2a/status"])


@pytest.fixture
def clock():
    with time_machine.travel(MOMENT, tick=False) as clock:
        yield clock


def ids(answer):
    return [entry["task"]["id"] for entry in answer.json()["tasks"]]


def test_the_queue_shows_entries_and_pending_results(alice, bob):
    result = factories.resolved_task(alice, bob)
    lease = factories.leased_task(alice, bob)
    task = factories.sent_task(alice, bob)

    answer = Api(alice).get("/a2a/queue").json()

    assert answer.keys() == {"kind", "tasks", "results", "next_cursor"}
    assert (answer["kind"], answer["next_cursor"]) == ("a2a_queue", None)
    queued, leased = answer["tasks"]
    assert queued.keys() == {"state", "task", "attempt"}
    assert (queued["state"], queued["task"]["id"], queued["attempt"]) == ("queued", str(task.uuid), 0)
    assert leased["state"] == "in_flight"
    assert leased["lease_id"] == str(lease.lease_id)
    assert leased["leased_to"] == {"display": "bob@local", "pubkey": bob.agent.pubkey}
    assert leased["leased_at_ms"] == epoch_ms(lease.leased_at)
    assert [one["task_id"] for one in answer["results"]] == [str(result.task.uuid)]


def test_the_status_has_exactly_the_seven_keys_of_the_command_line(alice, bob):
    factories.sent_task(alice, bob)

    answer = Api(alice).get("/a2a/status", limit=5, state_filter="queued", deadline_within_ms=7).json()

    assert answer == {
        "kind": "a2a_status",
        "limit": 5,
        "min_lease_age_ms": None,
        "deadline_within_ms": 7,
        "state_filter": "queued",
        "tasks": [],
        "results": [],
    }


@ROUTES
def test_a_state_filter_narrows_to_one_state(alice, bob, route):
    leased = factories.leased_task(alice, bob).task
    queued = factories.sent_task(alice, bob)
    api = Api(alice)

    assert ids(api.get(route, state_filter="queued")) == [str(queued.uuid)]
    assert ids(api.get(route, state_filter="in_flight")) == [str(leased.uuid)]


@ROUTES
@pytest.mark.parametrize("awaits", ["input", "authorization"])
def test_an_interrupted_task_is_listed_last_with_what_it_awaits(alice, bob, route, awaits):
    asking = talking.asked(bob, factories.leased_task(alice, bob), "which city?", awaits=awaits)
    queued = factories.sent_task(alice, bob)
    api = Api(alice)

    listed = api.get(route).json()["tasks"]
    (alone,) = api.get(route, state_filter="interrupted").json()["tasks"]

    assert [(one["state"], one["task"]["id"]) for one in listed] == [
        ("queued", str(queued.uuid)),
        ("interrupted", str(asking.uuid)),
    ]
    assert alone == listed[1]
    assert (alone["awaits"], alone["attempt"], alone.keys()) == (awaits, 1, {"state", "awaits", "task", "attempt"})


@ROUTES
def test_a_minimum_age_hides_young_leases_alone(alice, bob, clock, route):
    old = factories.leased_task(alice, bob).task
    clock.shift(timedelta(milliseconds=500))
    factories.leased_task(alice, bob)
    queued = factories.sent_task(alice, bob)
    api = Api(alice)

    assert ids(api.get(route, min_lease_age_ms=500)) == [str(queued.uuid), str(old.uuid)]
    assert len(ids(api.get(route, min_lease_age_ms=0))) == 3
    assert ids(api.get(route, min_lease_age_ms=2**53)) == [str(queued.uuid)]


@ROUTES
def test_a_deadline_filter_keeps_urgent_tasks(alice, bob, clock, route):
    due = factories.sent_task(alice, bob, deadline_ms=epoch_ms(MOMENT) + 1000)
    later = factories.sent_task(alice, bob, deadline_ms=epoch_ms(MOMENT) + 1001)
    factories.sent_task(alice, bob)
    api = Api(alice)

    assert ids(api.get(route, deadline_within_ms=1000)) == [str(due.uuid)]
    assert ids(api.get(route, deadline_within_ms=2**53)) == [str(due.uuid), str(later.uuid)]


@ROUTES
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("limit", "0"),
        ("limit", "1001"),
        ("limit", "-1"),
        ("limit", "x"),
        ("limit", ""),
        ("limit", "9" * 5000),
        ("state_filter", "Queued"),
        ("state_filter", "resolved"),
        ("state_filter", ""),
        ("min_lease_age_ms", "-1"),
        ("min_lease_age_ms", str(2**53 + 1)),
        ("min_lease_age_ms", "1.5"),
        ("deadline_within_ms", "soon"),
        ("cursor", "x"),
        ("colour", "red"),
        ("state_filter\x00", "queued"),
    ],
    ids=lambda text: repr(text)[:20],
)
def test_an_invalid_filter_is_named(alice, route, name, value):
    answer = Api(alice).get(route, **{name: value})

    assert error_of(answer) == (400, "invalid_request")
    assert list(answer.json()["fields"]) == [name]
