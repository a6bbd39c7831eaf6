import json
from uuid import uuid4

import pytest

from mailbox.access.callers import Role
from mailbox.access.credentials import public_routes
from mailbox.life import results, sending
from mailbox.models import Lease, Task
from mailbox.repairs import repair
from mailbox.words.times import epoch_ms
from tests.support import factories
from tests.support.api import Api, error_of

pytestmark = pytest.mark.django_db


def test_an_entry_has_all_fields_of_a_task(alice, bob):
    lease = factories.leased_task(alice, bob)
    task = lease.task

    entry = Api(alice).get(f"/a2a/tasks/{task.uuid}/entry").json()

    assert entry["kind"] == "a2a_task_entry"
    assert (
        entry["entry"].items()
        >= {
            "state": "in_flight",
            "attempt": 1,
            "lease_id": str(lease.lease_id),
            "leased_at_ms": epoch_ms(lease.leased_at),
            "outcome": None,
            "sent_at_ms": epoch_ms(task.sent_at),
            "queued_at_ms": epoch_ms(task.queued_at),
            "resolved_at_ms": None,
        }.items()
    )
    assert entry["entry"]["leased_to"]["display"] == "bob@local"
    assert entry["entry"]["task"]["id"] == str(task.uuid)


def test_a_path_takes_an_id_in_upper_or_lower_case(alice, bob):
    task = factories.sent_task(alice, bob)

    assert Api(alice).get(f"/a2a/tasks/{str(task.uuid).upper()}/entry").json()["entry"]["task"]["id"] == str(task.uuid)
    seen = Api(alice).get(f"/a2a/inboxes/bob/tasks/{str(task.uuid).upper()}")
    assert seen.status_code == 200, seen.json()


@pytest.mark.parametrize("text", ["1", "%00", "{}x", "{{{}}}", "urn:uuid:{}", "\u0661" * 36])
def test_an_invalid_id_in_a_path_is_named(alice, bob, text):
    path = f"/a2a/tasks/{text.format(factories.sent_task(alice, bob).uuid)}/entry"

    refused = Api(alice).get(path)

    assert error_of(refused) == (400, "invalid_request")
    assert "must be a UUID" in refused.json()["fields"]["task_id"]
    assert error_of(Api().get(path)) == (401, "unauthenticated")


def test_a_party_is_told_which_party_answers_or_cancels_a_task(alice, bob, mallory):
    task = factories.leased_task(alice, bob).task

    posted = Api(alice).post("/a2a/results", {"task_id": str(task.uuid), "status": "ok"})
    cancelled = Api(bob).post(f"/a2a/tasks/{task.uuid}/cancel", {})

    assert error_of(posted) == error_of(cancelled) == (404, "unknown_task")
    assert (
        posted.json()["message"] == f"You are a party to task {task.uuid}, but only its recipient can post its result."
    )
    assert "but only its sender can cancel it" in cancelled.json()["message"]
    assert "is known to you" in Api(mallory).post(f"/a2a/tasks/{task.uuid}/cancel", {}).json()["message"]


def test_a_queued_entry_has_no_lease_keys(alice, bob):
    task = factories.sent_task(alice, bob)

    entry = Api(bob).get(f"/a2a/tasks/{task.uuid}/entry").json()["entry"]

    assert (entry["state"], entry["attempt"]) == ("queued", 0)
    assert not {"lease_id", "leased_to", "leased_at_ms"} & entry.keys()


@pytest.mark.parametrize("outcome", ["cancelled", "ok"])
def test_a_resolved_entry_has_its_outcome(alice, bob, outcome):
    task = factories.sent_task(alice, bob)
    if outcome == "cancelled":
        sending.cancel(alice, task.uuid)
    else:
        results.post_result(bob, factories.result_envelope(task))

    entry = Api(alice).get(f"/a2a/tasks/{task.uuid}/entry").json()["entry"]

    assert (entry["state"], entry["outcome"]) == ("resolved", outcome)
    assert entry["resolved_at_ms"] >= entry["sent_at_ms"]


def test_a_result_is_read_without_being_drained(alice, bob):
    task = factories.sent_task(alice, bob)
    api = Api(alice)
    assert api.get(f"/a2a/tasks/{task.uuid}/result").json() == {"kind": "a2a_result_opt", "result": None}
    results.post_result(bob, factories.result_envelope(task))

    for _ in range(2):
        got = api.get(f"/a2a/tasks/{task.uuid}/result").json()["result"]
        assert got == {"task_id": str(task.uuid), "status": "ok", "content": factories.SOME_TEXT}
    assert len(results.drain_results(alice)) == 1


def test_a_tree_lists_its_tasks_in_order_with_depths(alice, bob):
    root = factories.sent_task(alice, bob)
    child = factories.sent_task(alice, bob, parent=root.uuid)
    results.post_result(bob, factories.result_envelope(child))

    answer = Api(alice).get(f"/a2a/tasks/{root.uuid}/tree").json()

    assert (answer["kind"], answer["root"]) == ("a2a_tree", str(root.uuid))
    above, below = answer["nodes"]
    assert (above["depth"], above["state"], above["outcome"], above["result"]) == (0, "queued", None, None)
    assert (below["depth"], below["state"], below["outcome"]) == (1, "resolved", "ok")
    assert below["task"]["parent"] == str(root.uuid)
    assert below["result"]["content"] == factories.SOME_TEXT


def test_a_timeline_lists_events_with_actor_and_time(alice, bob):
    lease = factories.leased_task(alice, bob)
    task_id = str(lease.task.uuid)

    answer = Api(alice).get(f"/a2a/tasks/{task_id}/timeline").json()

    assert (answer["kind"], answer["task_id"], answer["next_cursor"]) == ("a2a_timeline", task_id, None)
    first, second = answer["events"]
    assert (first["seq"], first["kind"], first["actor"]) == (1, "a2a_task_sent", "alice@local")
    assert (second["seq"], second["kind"], second["actor"]) == (2, "a2a_task_leased", "bob@local")
    assert second["data"] == {"lease_id": str(lease.lease_id), "attempt": 1, "holder": "bob@local"}
    assert (second["task_id"], second["source"], second["request_id"]) == (task_id, "api", None)
    assert "id" not in first
    assert second["at_ms"] == epoch_ms(lease.leased_at)


def test_a_timeline_shows_agents_neither_people_nor_requests_of_others_nor_row_numbers(alice, bob):
    lease = factories.leased_task(alice, bob)
    olga = factories.person("olga", Role.OPERATOR)
    repair.requeue(olga, lease.task.uuid, reason="it hangs", duplicate_risk="operator_accepted")
    path = f"/a2a/tasks/{lease.task.uuid}/timeline"

    seen, whole = (Api(caller).get(path).json()["events"] for caller in (alice, olga))

    assert [event["actor"] for event in seen] == ["alice@local", "bob@local", "operator"]
    assert [event["request_id"] for event in seen] == ["test", None, None]
    assert seen[2]["data"]["reason"] == "it hangs"
    assert "olga" not in json.dumps(seen)
    assert not any("id" in event for event in seen)
    assert [event["actor"] for event in whole] == ["alice@local", "bob@local", "user:olga"]
    assert all(event["id"] and event["request_id"] for event in whole)


def test_a_timeline_names_the_agent_whose_public_route_sent_the_task(alice, bob, olga):
    made = public_routes.add(olga, alice.agent, rate_limit=10)
    path = f"/a2a/tasks/{factories.sent_task(public_routes.caller(made.route, request_id='r'), bob).uuid}/timeline"

    seen, whole = (Api(caller).get(path).json()["events"] for caller in (bob, olga))

    assert [event["actor"] for event in seen] == ["alice@local"]
    assert [event["actor"] for event in whole] == [f"alice@local (route {made.route.public_id})"]


def test_an_agent_reads_its_own_journal_without_row_numbers(alice, bob):
    factories.sent_task(alice, bob)

    events = Api(alice).get("/audit/recent").json()["events"]

    assert [event["kind"] for event in events] == ["a2a_task_sent", "capability_check"]
    assert not any("id" in event for event in events)


def test_a_released_task_is_queued_again(alice, bob):
    lease = factories.leased_task(alice, bob)

    answer = Api(bob).post(f"/a2a/tasks/{lease.task.uuid}/release", {"reason": "busy", "lease_id": str(lease.lease_id)})

    task_id = str(lease.task.uuid)
    assert answer.json() == {"kind": "a2a_task_released", "task_id": task_id, "attempt": 1}
    assert Task.objects.get().state == Task.State.QUEUED
    assert factories.last_event().kind == "a2a_task_released"


def test_a_heartbeat_answers_with_the_lease(alice, bob):
    lease = factories.leased_task(alice, bob)

    answer = Api(bob).post(f"/a2a/tasks/{lease.task.uuid}/heartbeat").json()

    lease.refresh_from_db()
    assert (answer["kind"], answer["task_id"]) == ("a2a_lease", str(lease.task.uuid))
    assert answer["lease"]["lease_id"] == str(lease.lease_id)
    assert answer["lease"]["last_seen_at_ms"] == epoch_ms(lease.last_seen_at)
    assert lease.last_seen_at > lease.leased_at


@pytest.mark.parametrize("body", [None, {}, {"reason": "not needed"}])
def test_a_sender_cancels_with_or_without_a_reason(alice, bob, body):
    task = factories.sent_task(alice, bob)

    answer = Api(alice).post(f"/a2a/tasks/{task.uuid}/cancel", body)

    assert answer.json() == {"kind": "a2a_task_cancelled", "task_id": str(task.uuid)}
    assert factories.last_event().kind == "a2a_task_cancelled"


@pytest.mark.parametrize(("route", "body"), [("release", {"reason": "r"}), ("heartbeat", {})])
def test_a_verb_of_the_holder_refuses_a_stale_lease(alice, bob, route, body):
    lease = factories.leased_task(alice, bob)

    answer = Api(bob).post(f"/a2a/tasks/{lease.task.uuid}/{route}", {**body, "lease_id": str(uuid4())})

    assert error_of(answer) == (409, "lease_mismatch")
    assert answer.json()["actual_lease_id"] == str(lease.lease_id)
    assert Lease.objects.get().ended_at is None


@pytest.mark.parametrize(
    ("route", "body", "field"),
    [
        ("release", {}, "reason"),
        ("release", {"reason": " "}, "reason"),
        ("release", {"reason": 7}, "reason"),
        ("release", {"reason": "x" * 501}, "reason"),
        ("release", {"reason": "r", "lease_id": "x"}, "lease_id"),
        ("release", {"reason": "r", "why": "r"}, "why"),
        ("heartbeat", {"lease_id": 7.5}, "lease_id"),
        ("heartbeat", {"alive": True}, "alive"),
        ("cancel", {"reason": None}, "reason"),
        ("cancel", {"reason": "  "}, "reason"),
        ("cancel", {"lease_id": str(uuid4())}, "lease_id"),
    ],
)
def test_a_wrong_field_is_named(alice, bob, route, body, field):
    lease = factories.leased_task(alice, bob)
    api = Api(alice if route == "cancel" else bob)

    answer = api.post(f"/a2a/tasks/{lease.task.uuid}/{route}", body)

    assert error_of(answer) == (400, "invalid_request")
    assert list(answer.json()["fields"]) == [field]
    assert Lease.objects.get().ended_at is None


def test_own_leases_are_listed_with_their_tasks(alice, bob, olga):
    lease = factories.leased_task(alice, bob)

    for caller in (bob, olga):
        (held,) = Api(caller).get("/a2a/leases").json()["leases"]
        assert (held["lease_id"], held["attempt"]) == (str(lease.lease_id), 1)
        assert held["task"]["id"] == str(lease.task.uuid)
        assert held["leased_to"]["display"] == "bob@local"
    assert Api(alice).get("/a2a/leases").json() == {"kind": "a2a_leases", "leases": [], "next_cursor": None}
