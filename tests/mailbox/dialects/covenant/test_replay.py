from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
import time_machine

from mailbox.life import results
from mailbox.models import AuditEvent, ReplayEntry
from tests.support import factories
from tests.support.api import Api, answered

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator(olga):
    return Api(olga)


@pytest.fixture
def lease(alice, bob):
    return factories.leased_task(alice, bob, idempotency=factories.idempotent("report-1"))


@pytest.fixture
def entry(bob, lease, settings):
    settings.A2A_REPLAY_TTL = timedelta(days=36_500)
    results.post_result(bob, factories.result_envelope(lease.task))
    return ReplayEntry.objects.get()


def test_cached_results_are_listed_with_their_work(alice, bob, operator, lease, entry):
    with time_machine.travel(datetime(2035, 1, 1, tzinfo=UTC), tick=False):
        factories.sent_task(alice, bob, idempotency=factories.idempotent("report-1"))

    (row,) = operator.get("/a2a/replay-entries").json()["entries"]

    assert row.pop("stored_at_ms") == int(entry.stored_at.timestamp() * 1000)
    assert row == {
        "id": entry.pk,
        "sender_pubkey_b58": factories.row_of(alice).pubkey,
        "recipient_pubkey_b58": factories.row_of(bob).pubkey,
        "task_kind": "summarise the report",
        "key": "report-1",
        "source_task_id": str(lease.task.uuid),
        "status": "ok",
        "hits": 1,
        "last_hit_at_ms": 2_051_222_400_000,
        "expires_at_ms": int(entry.expires_at.timestamp() * 1000),
    }


def test_a_drop_under_the_task_of_another_result_is_refused(operator, entry):
    body = {"id": entry.pk, "reason": "the report changed"}

    status, refusal = answered(operator.post("/a2a/replay-entries/drop", body | {"source_task_id": str(uuid4())}))
    assert (status, refusal["code"]) == (404, "unknown_replay_entry")
    assert "was replaced by the result of another task" in refusal["message"]
    assert ReplayEntry.objects.exists()

    guarded = body | {"source_task_id": str(entry.source_task_id)}
    assert answered(operator.post("/a2a/replay-entries/drop", guarded)) == (
        200,
        {"kind": "a2a_replay_dropped", "id": entry.pk},
    )
    assert not ReplayEntry.objects.exists()


@pytest.mark.parametrize("wrong", [0, 2**63, True, 1.0, "1"])
def test_a_drop_of_an_invalid_number_is_refused(operator, entry, wrong):
    status, refusal = answered(operator.post("/a2a/replay-entries/drop", {"id": wrong, "reason": "x"}))

    assert (status, list(refusal["fields"])) == (400, ["id"])


def test_an_operator_drops_a_cached_result_with_a_reason(operator, entry):
    answer = answered(operator.post("/a2a/replay-entries/drop", {"id": entry.pk, "reason": "the report changed"}))

    assert answer == (200, {"kind": "a2a_replay_dropped", "id": entry.pk})
    assert not ReplayEntry.objects.exists()
    assert AuditEvent.objects.get(kind="a2a_replay_dropped").fields["reason"] == "the report changed"


def test_a_waiting_duplicate_is_shown_with_its_leader_by_every_route(alice, lease):
    parent, task_id = uuid4(), uuid4()
    wanted = {
        "id": str(task_id),
        "recipient": "bob",
        "intent_text": "summarise the report",
        "parent": str(parent),
        "idempotency": {"duplicate_safety": "idempotent", "key": "report-1"},
    }
    door = Api(alice)

    assert answered(door.post("/a2a/tasks", wanted)) == (200, {"kind": "a2a_task_queued", "task_id": str(task_id)})

    leader = str(lease.task.uuid)
    assert [entry.get("waits_on") for entry in door.get("/a2a/queue").json()["tasks"]] == [leader, None]
    assert [entry.get("waits_on") for entry in door.get("/a2a/status").json()["tasks"]] == [leader, None]
    assert door.get(f"/a2a/tasks/{task_id}/entry").json()["entry"]["waits_on"] == leader
    assert [node["waits_on"] for node in door.get(f"/a2a/tasks/{parent}/tree").json()["nodes"]] == [leader]
