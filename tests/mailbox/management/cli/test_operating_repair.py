import json
import uuid

import pytest
from django.core.management.base import CommandError

from mailbox.models import AuditEvent

STATUS_KEYS = ["kind", "limit", "min_lease_age_ms", "deadline_within_ms", "state_filter", "tasks", "results"]


def test_the_status_of_an_empty_queue_is_a_notice(a2a, a2a_json):
    assert a2a("status") == "(a2a queue empty)"
    assert a2a_json("status", "--json") == dict.fromkeys(STATUS_KEYS) | {
        "kind": "a2a_status",
        "limit": 10,
        "tasks": [],
        "results": [],
    }


def test_the_json_status_always_has_seven_keys(a2a_json, leased):
    words = ["--limit", 5, "--min-lease-age-ms", 0, "--deadline-within-ms", 1000, "--state", "in-flight"]

    status = a2a_json("status", "--json", *words)

    assert list(status) == STATUS_KEYS
    assert [status[name] for name in STATUS_KEYS[1:5]] == [5, 0, 1000, "in_flight"]


def test_status_prints_one_line_of_json_per_task_and_result(a2a, leased):
    a2a("send", "--from", "alice", "--to", "bob", "second")
    done = a2a("send", "--from", "alice", "--to", "bob", "third")
    a2a("post-result", done, "--status", "ok")

    queued, in_flight, result = map(json.loads, a2a("status").splitlines())

    assert queued["type"] == in_flight["type"] == "task"
    assert [queued["entry"]["state"], in_flight["entry"]["state"]] == ["queued", "in_flight"]
    assert in_flight["entry"]["lease_id"] == leased["lease"]["lease_id"]
    assert result == {"type": "result", "result": {"task_id": done, "status": "ok", "content": []}}


def test_status_filters_the_queue(a2a, leased):
    assert a2a("status", "--state", "queued") == "(a2a queue empty)"
    assert a2a("status", "--min-lease-age-ms", 60_000) == "(a2a queue empty)"
    assert a2a("status", "--state", "in_flight") != "(a2a queue empty)"


@pytest.mark.parametrize("risk", ["operator-accepted", "operator_accepted"])
def test_a_requeue_prints_its_outcome(a2a, a2a_json, leased, risk):
    task_id = leased["task"]["id"]

    outcome = a2a_json("requeue", task_id, "--reason", "stuck", "--duplicate-risk", risk)

    assert outcome == {"task_id": task_id, "action": "requeued", "state": "queued", "attempt": 1}
    row = AuditEvent.objects.get(kind="a2a_repair_applied")
    assert (row.source, row.fields["duplicate_risk"]) == ("cli", "operator_accepted")


def test_a_forced_error_prints_its_outcome_with_the_result(a2a_json, leased):
    task_id, lease_id = leased["task"]["id"], leased["lease"]["lease_id"]

    outcome = a2a_json("force-error", task_id, "--reason", "stuck", "--message", "worker lost", "--lease-id", lease_id)

    result = {"task_id": task_id, "status": "error", "content": [], "error_message": "worker lost"}
    assert outcome == {
        "task_id": task_id,
        "action": "forced_error",
        "state": "result_pending",
        "attempt": 1,
        "result": result,
    }
    assert a2a_json("drain", "alice", "--json")["result"] == result


@pytest.mark.parametrize(
    ("command", "words", "message"),
    [
        ("requeue", ["--reason", "r", "--duplicate-risk", "idempotent"], "operator_accepted"),
        ("requeue", ["--reason", " ", "--duplicate-risk", "operator-accepted"], "reason must not be empty"),
        (
            "requeue",
            ["--reason", "r", "--duplicate-risk", "operator-accepted", "--lease-id", str(uuid.UUID(int=7))],
            "lease mismatch for task .* expected 00000000-0000-0000-0000-000000000007, actual",
        ),
        ("force-error", ["--reason", "r", "--message", ""], "message must not be empty"),
    ],
)
def test_an_invalid_repair_changes_nothing(a2a, leased, command, words, message):
    before = a2a("status")

    with pytest.raises(CommandError, match=message) as refusal:
        a2a(command, leased["task"]["id"], *words)

    assert refusal.value.returncode == 1
    assert a2a("status") == before


def test_an_unknown_task_cannot_be_repaired(a2a):
    with pytest.raises(CommandError, match="no task"):
        a2a("requeue", uuid.uuid4(), "--reason", "r", "--duplicate-risk", "operator-accepted")


def test_a_queued_task_is_not_in_flight(a2a, sent):
    with pytest.raises(CommandError, match="is queued, not leased"):
        a2a("force-error", sent, "--reason", "r", "--message", "m")
