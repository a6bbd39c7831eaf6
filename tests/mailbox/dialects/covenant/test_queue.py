from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from mailbox.verbs.life import leasing
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


def test_pages_of_the_queue_go_on_through_all_states(alice, bob, clock):
    expected = []
    for state in ("queued", "in_flight", "interrupted"):
        for _ in range(3):
            clock.shift(timedelta(seconds=1))
            lease = None if state == "queued" else leasing.lease_task(bob, factories.sent_task(alice, bob).uuid)
            task = lease.task if lease else factories.sent_task(alice, bob)
            if lease and state == "interrupted":
                talking.asked(bob, lease, "which city?")
            expected.append(str(task.uuid))

    found, cursor = [], None
    for _ in range(10):
        answer = Api(bob).get("/a2a/queue", limit=2, **({"cursor": cursor} if cursor else {}))
        found += ids(answer)
        if (cursor := answer.json()["next_cursor"]) is None:
            break

    assert found == expected


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


def test_strangers_see_an_empty_queue(alice, bob, mallory):
    factories.leased_task(alice, bob)
    factories.sent_task(alice, bob)

    answer = Api(mallory).get("/a2a/queue", limit=1).json()

    assert (answer["tasks"], answer["results"], answer["next_cursor"]) == ([], [], None)


def test_operators_see_the_whole_queue(alice, bob, olga):
    factories.resolved_task(alice, bob)
    factories.sent_task(alice, bob)

    answer = Api(olga).get("/a2a/queue").json()

    assert (len(answer["tasks"]), len(answer["results"])) == (1, 1)


@pytest.mark.parametrize(
    ("route", "items", "query"),
    [
        ("/a2a/queue", "tasks", {}),
        ("/a2a/queue", "tasks", {"state_filter": "in_flight"}),
        ("/a2a/tasks/recent", "tasks", {}),
        ("/a2a/results/recent", "results", {}),
        ("/a2a/results/delivered", "results", {}),
        ("/a2a/leases", "leases", {}),
        ("/audit/recent", "events", {}),
        ("/capabilities/recent", "capabilities", {}),
        ("/a2a/agents", "agents", {}),
    ],
)
def test_every_list_is_read_to_its_end_by_its_cursors(alice, bob, olga, route, items, query):
    for number in range(3):
        factories.drained_task(alice, bob)
        factories.agent(f"extra{number}", "a2a.send.*")
    for _ in range(3):
        factories.resolved_task(alice, bob)
    for _ in range(6):
        factories.sent_task(alice, bob)
    leasing.lease_tasks(bob, limit=3)
    api = Api(olga)
    whole = api.get(route, limit=1000, **query).json()[items]

    pages: list[list[object]] = []
    cursor = None
    while not pages or cursor:
        answer = api.get(route, limit=2, **query, **({"cursor": cursor} if cursor else {})).json()
        pages.append(answer[items])
        cursor = answer["next_cursor"]

    assert [item for page in pages for item in page] == whole
    assert len(whole) >= 3
    assert {len(page) for page in pages[:-1]} == {2}


def test_a_timeline_is_read_to_its_end_by_its_cursors(alice, bob):
    task = factories.sent_task(alice, bob)
    for _ in range(3):
        leasing.lease_tasks(bob)
        leasing.release(bob, task.uuid, reason="again")
    api, path = Api(alice), f"/a2a/tasks/{task.uuid}/timeline"

    first = api.get(path, limit=4).json()
    second = api.get(path, limit=4, cursor=first["next_cursor"]).json()

    assert [event["seq"] for event in first["events"] + second["events"]] == [1, 2, 3, 4, 5, 6, 7]
    assert second["next_cursor"] is None


@pytest.mark.parametrize("other", ["/a2a/queue", "/a2a/results/recent", "/a2a/results/delivered", "/audit/recent"])
def test_a_cursor_of_another_list_is_refused(alice, bob, other):
    for _ in range(2):
        factories.sent_task(alice, bob)
    api = Api(alice)
    cursor = api.get("/a2a/tasks/recent", limit=1).json()["next_cursor"]

    assert error_of(api.get(other, cursor=cursor)) == (400, "invalid_request")
