from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
import time_machine
from django.utils import timezone

from mailbox.access.callers import Role
from mailbox.life import results
from mailbox.models import Lease, Task
from tests.support import factories
from tests.support.api import Api, answered

pytestmark = pytest.mark.django_db

POLICY = {
    "enabled": False,
    "min_lease_age_ms": 300_000,
    "max_attempts": 3,
    "max_requeues": 1,
    "scan_limit": 100,
}
REQUEUE = {"action": "requeue", "duplicate_risk": "operator_accepted"}
FORCE_ERROR = {"action": "force_error", "message": "gave up"}


@pytest.fixture
def operator(olga):
    return Api(olga)


@pytest.fixture
def lease(alice, bob):
    with time_machine.travel(timezone.now() - timedelta(hours=1)):
        return factories.leased_task(alice, bob, idempotency=factories.idempotent("report-1"))


def repair_of(lease: Lease, command: dict[str, Any]) -> dict[str, Any]:
    return {"task_id": str(lease.task.uuid), "command": command, "reason": "stuck"}


def test_a_requeue_answers_its_outcome_without_a_result(operator, lease):
    assert answered(operator.post("/a2a/repair", repair_of(lease, REQUEUE))) == (
        200,
        {
            "kind": "a2a_repaired",
            "outcome": {"task_id": str(lease.task.uuid), "action": "requeued", "state": "queued", "attempt": 1},
        },
    )


def test_a_forced_error_answers_its_outcome_with_the_result(operator, lease):
    status, body = answered(operator.post("/a2a/repair", repair_of(lease, FORCE_ERROR)))

    assert (status, body["kind"]) == (200, "a2a_repaired")
    task_id = str(lease.task.uuid)
    assert body["outcome"] == {
        "task_id": task_id,
        "action": "forced_error",
        "state": "result_pending",
        "attempt": 1,
        "result": {"task_id": task_id, "status": "error", "content": [], "error_message": "gave up"},
    }


def test_a_stale_guard_is_a_conflict_that_names_both_leases(operator, lease):
    guard = str(uuid4())

    status, body = answered(operator.post("/a2a/repair", repair_of(lease, REQUEUE | {"lease_id": guard})))

    assert (status, body["kind"], body["code"]) == (409, "error", "lease_mismatch")
    assert (body["expected_lease_id"], body["actual_lease_id"]) == (guard, str(lease.lease_id))
    assert Lease.objects.live().count() == 1


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"reason": " "}, "reason"),
        ({"reason": None}, "reason"),
        ({"task_id": "7"}, "task_id"),
        ({"command": {}}, "command"),
        ({"command": {"type": "requeue", "duplicate_risk": "idempotent"}}, "command"),
        ({"command": {"action": "Requeue", "duplicate_risk": "idempotent"}}, "command"),
        ({"command": {"action": "requeue"}}, "command.requeue.duplicate_risk"),
        ({"command": {"action": "requeue", "duplicate_risk": "Idempotent"}}, "command.requeue.duplicate_risk"),
        ({"command": {"action": "force_error"}}, "command.force_error.message"),
        ({"command": {"action": "force_error", "message": " "}}, "message"),
        ({"command": {**REQUEUE, "lease_id": "7"}}, "command.requeue.lease_id"),
    ],
)
def test_a_malformed_repair_is_refused_by_field_and_changes_nothing(operator, lease, change, field):
    before = factories.journal_length()

    status, body = answered(operator.post("/a2a/repair", repair_of(lease, REQUEUE) | change))

    assert (status, body["code"], list(body["fields"])) == (400, "invalid_request", [field])
    assert factories.journal_length() == before


@pytest.mark.parametrize("field", ["task_id", "command", "reason"])
def test_each_of_the_three_keys_of_a_repair_is_required(operator, lease, field):
    wanted = repair_of(lease, REQUEUE)
    del wanted[field]

    status, body = answered(operator.post("/a2a/repair", wanted))

    assert (status, list(body["fields"])) == (400, [field])


def test_an_empty_policy_is_a_dry_run_with_every_default(operator, lease):
    answer = answered(operator.post("/a2a/retry-stale", {}))

    row = {
        "task_id": str(lease.task.uuid),
        "lease_id": str(lease.lease_id),
        "attempt": 1,
        "idempotency_key": "report-1",
    }
    report = {"policy": POLICY, "considered": 1, "requeued": [], "would_requeue": [row], "skipped": []}
    assert answer == (200, {"kind": "a2a_auto_retry", "report": report})
    assert answered(operator.post("/a2a/retry-stale")) == answer
    assert Lease.objects.live().count() == 1


def test_an_enabled_pass_reports_the_leases_it_ended(operator, lease):
    _, body = answered(operator.post("/a2a/retry-stale", {"enabled": True}))

    assert body["report"]["policy"] == POLICY | {"enabled": True}
    assert [row["lease_id"] for row in body["report"]["requeued"]] == [str(lease.lease_id)]
    assert (body["report"]["would_requeue"], Lease.objects.live().count()) == ([], 0)


def test_a_skipped_lease_has_its_reason_attempt_and_age(operator, alice, bob):
    with time_machine.travel(datetime(2035, 1, 1, tzinfo=UTC), tick=False) as clock:
        lease = factories.leased_task(alice, bob)
        clock.shift(timedelta(minutes=10))
        _, body = answered(operator.post("/a2a/retry-stale", {}))

    assert body["report"]["skipped"] == [
        {"task_id": str(lease.task.uuid), "reason": "missing_idempotency", "attempt": 1, "lease_age_ms": 600_000}
    ]


@pytest.mark.parametrize("policy", [{"max_attempts": 5}, {"min_lease_age_ms": 0}, {"max_requeues": 0}])
def test_a_partial_policy_may_have_zeros_and_keeps_the_other_defaults(operator, policy):
    status, body = answered(operator.post("/a2a/retry-stale", policy))

    assert (status, body["report"]["policy"]) == (200, POLICY | policy)


@pytest.mark.parametrize(
    "policy",
    [
        {"enabled": "yes"},
        {"enabled": 1},
        {"min_lease_age_ms": -1},
        {"min_lease_age_ms": 315_360_000_001},
        {"min_lease_age_ms": 10**400},
        {"min_lease_age_ms": None},
        {"max_attempts": 0},
        {"max_attempts": True},
        {"max_attempts": 1_000_001},
        {"max_requeues": "5"},
        {"max_requeues": -1},
        {"max_requeues": 1.5},
        {"scan_limit": 0},
        {"scan_limit": 10_001},
        {"scan_limit": 1.0},
        {"max_requeue": 1},
    ],
)
def test_a_malformed_policy_is_refused_by_field(operator, lease, policy):
    status, body = answered(operator.post("/a2a/retry-stale", {"enabled": True} | policy))

    assert (status, body["code"], list(body["fields"])) == (400, "invalid_request", list(policy))
    assert body["fields"].popitem()[1].startswith(("must be ", "is not a field"))
    assert Lease.objects.live().count() == 1


def test_a_compaction_answers_the_number_of_deleted_tasks(alice, bob, settings):
    settings.A2A_RETENTION_ACKED = timedelta(0)
    result = factories.drained_task(alice, bob)
    results.ack_results(alice, [result.task.uuid])
    admin = Api(factories.person("ada", Role.ADMIN))

    assert answered(admin.post("/a2a/compact")) == (200, {"kind": "a2a_compacted", "dropped": 1})
    assert answered(admin.post("/a2a/compact", {})) == (200, {"kind": "a2a_compacted", "dropped": 0})
    assert not Task.objects.exists()


def test_a_compaction_takes_no_retention_from_its_caller(alice):
    admin = Api(factories.person("ada", Role.ADMIN))

    assert answered(admin.post("/a2a/compact", {"delivered_ms": 0}))[0] == 400
