"""The checker accepts a run of a hub, and names each fault that is planted into its history or its rows."""

import json
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

import pytest

from tools.proof import checker
from tools.proof.evidence import Evidence
from tools.proof.history import History, Operation
from tools.proof.plants import Plant, Tables, event, first, named_with
from tools.proof.rows import Rows

pytestmark = [pytest.mark.processes, pytest.mark.one_database]


def answered(tables: Tables, history: History, verb: str) -> list[Operation]:
    """Return the receives of one lease, or of one result, that were answered with it."""
    evidence = Evidence(history, Rows(**tables))
    found = evidence.leased if verb == "lease" else evidence.drained
    return [operation for operation, *_ in found if "most" not in operation.facts]


def lose_a_task(tables: Tables, history: History) -> None:
    tables["tasks"].remove(first(tables["tasks"], state="resolved"))


def lose_a_row(tables: Tables, history: History) -> None:
    tables["events"].remove(event(tables, "a2a_result_posted"))


def lose_the_send(tables: Tables, history: History) -> None:
    tables["events"].remove(event(tables, "a2a_task_sent"))


def store_a_task_of_nobody(tables: Tables, history: History) -> None:
    for row in tables["events"]:
        if row["request_id"] == event(tables, "a2a_task_sent")["request_id"]:
            row["request_id"] = "another"


def decide_twice(tables: Tables, history: History) -> None:
    tables["events"].append({**event(tables, "a2a_result_posted"), "seq": None})


def repair_twice(tables: Tables, history: History) -> None:
    guarded = next(one for one in history.acknowledged("repair") if "lease_id" in one.facts["command"])
    row = first(tables["events"], kind="a2a_repair_applied", request_id=guarded.request_id)
    tables["events"].append({**row, "seq": None})


def requeue_twice_without_a_lease(tables: Tables, history: History) -> None:
    requeues = (one for one in history.acknowledged("repair") if one.facts["command"]["action"] == "requeue")
    unguarded = next(one for one in requeues if "lease_id" not in one.facts["command"])
    row = first(tables["events"], kind="a2a_repair_applied", request_id=unguarded.request_id)
    tables["events"].append({**row, "seq": None})


def skip_the_check(tables: Tables, history: History) -> None:
    sent = event(tables, "a2a_task_sent")
    tables["events"].remove(first(tables["events"], kind="capability_check", request_id=sent["request_id"]))


def take_twice(tables: Tables, history: History) -> None:
    leases = [row for row in tables["leases"] if row["receive_attempt_id"]]
    leases[1] |= {name: leases[0][name] for name in ("holder__display", "receive_attempt_id", "receive_index")}


def take_a_result_twice(tables: Tables, history: History) -> None:
    drained = answered(tables, history, "drain")[0]
    delivered = first(tables["events"], kind="a2a_result_delivered", request_id=drained.request_id)
    tables["events"].append({**delivered, "seq": None})


def end_a_lease_by_itself(tables: Tables, history: History) -> None:
    first(tables["leases"], end="result")["end"] = "expired"


def lease_twice(tables: Tables, history: History) -> None:
    lease = first(tables["leases"], end="result")
    lease["ended_at"] = lease["end"] = None
    tables["leases"].append({**lease, "lease_id": "another", "attempt": 2})


def skip_an_attempt(tables: Tables, history: History) -> None:
    first(tables["leases"], attempt=1)["attempt"] = 2


def give_a_lease_to_two(tables: Tables, history: History) -> None:
    one, other = answered(tables, history, "lease")[:2]
    other.tries[-1] = one.tries[-1]


def answer_a_false_lease(tables: Tables, history: History) -> None:
    answered(tables, history, "lease")[0].answer["lease"]["attempt"] = 9


def lease_to_another(tables: Tables, history: History) -> None:
    answered(tables, history, "lease")[0].actor = "stranger@proof"


def answer_nobody(tables: Tables, history: History) -> None:
    operation = answered(tables, history, "lease")[0]
    operation.answer["task"] = None
    history.note("stuck", lease_id=operation.answer["lease"]["lease_id"])


def deliver_to_nobody(tables: Tables, history: History) -> None:
    answered(tables, history, "drain")[0].answer["result"] = None


def deliver_to_two(tables: Tables, history: History) -> None:
    one, other = answered(tables, history, "drain")[:2]
    other.tries[-1] = one.tries[-1]


def deliver_to_another(tables: Tables, history: History) -> None:
    answered(tables, history, "drain")[0].actor = "stranger@proof"


def change_a_result(tables: Tables, history: History) -> None:
    first(tables["results"], posted_by__display="worker-7-0@proof", status="ok")["content"] = "[]"


def delete_a_drained_result(tables: Tables, history: History) -> None:
    tables["results"].remove(first(tables["results"], delivery="acked"))


def forget_an_ack(tables: Tables, history: History) -> None:
    first(tables["results"], delivery="acked")["delivery"] = "delivered"


def acknowledge_before_the_commit(tables: Tables, history: History) -> None:
    acked = next(history.acknowledged("ack")).facts["acked"][0]
    tables["events"].remove(first(tables["events"], kind="a2a_result_acked", task_id=acked))


def ignore_the_fence(tables: Tables, history: History) -> None:
    posts = [one for one in history.acknowledged("post") if one.facts.get("result", {}).get("lease_id")]
    posts[0].facts["result"]["lease_id"] = "an-earlier-lease"


def compact_a_pending_result(tables: Tables, history: History) -> None:
    acked = event(tables, "a2a_result_acked")
    gone = {**acked, "kind": "a2a_tasks_compacted", "seq": None}
    tables["events"][:] = [row for row in tables["events"] if row != acked] + [gone]


def leave_a_waiter(tables: Tables, history: History) -> None:
    tables["tasks"][0]["waits_on__uuid"] = tables["tasks"][1]["uuid"]


def leave_a_task(tables: Tables, history: History) -> None:
    tables["tasks"][0].update(state="queued", outcome=None)


def replay_for_another(tables: Tables, history: History) -> None:
    source = json.loads(event(tables, "a2a_result_replayed")["data"])["source_task_id"]
    Evidence(history, Rows(**tables)).sends[source].actor = "stranger@proof"


def expire_without_a_limit(tables: Tables, history: History) -> None:
    sends = Evidence(history, Rows(**tables)).sends
    expired = [row["task_id"] for row in tables["events"] if row["kind"] == "a2a_task_expired"]
    limited = (sends[task_id].facts.get("task", {}) for task_id in expired if task_id in sends)
    del next(task for task in limited if "deadline_ms" in task)["deadline_ms"]


def show_an_end_that_changes(tables: Tables, history: History) -> None:
    for read in history.acknowledged("read"):
        if read.dialect == "mailbox":
            read.answer["entry"]["outcome"] = "rejected"


def lose_a_callback(tables: Tables, history: History) -> None:
    tables["deliveries"].clear()


def keep_an_open_question(tables: Tables, history: History) -> None:
    first(tables["tasks"], state="resolved")["awaits"] = "input"


def lose_a_message(tables: Tables, history: History) -> None:
    tables["messages"].remove(first(tables["messages"], role="user"))


def miscount_the_turns(tables: Tables, history: History) -> None:
    first(tables["tasks"], turn=2)["turn"] = 3


def keep_a_lease_beside_a_question(tables: Tables, history: History) -> None:
    lease = first(tables["leases"], end="asked")
    lease["ended_at"] = None
    first(tables["tasks"], uuid=lease["task__uuid"])["state"] = "interrupted"


def lose_the_begin_of_an_artifact(tables: Tables, history: History) -> None:
    for row in [row for row in tables["artifacts"] if not row["append"]]:
        tables["artifacts"].remove(row)


def fail(tables: Tables, history: History) -> None:
    operation = next(history.acknowledged("post"))
    operation.tries.insert(0, replace(operation.tries[0], status=500))


def refuse_what_was_done(tables: Tables, history: History) -> None:
    operation = next(history.acknowledged("release"))
    operation.tries[-1] = replace(operation.tries[-1], status=409)


def answer_never(tables: Tables, history: History) -> None:
    next(history.acknowledged("post")).ended_at = None


def answer_another_task(tables: Tables, history: History) -> None:
    sent = next(one for one in history.acknowledged("send") if "id" in one.facts.get("task", {}))
    sent.facts["task"]["id"] = "another"


def call_nobody_back(tables: Tables, history: History) -> None:
    history.note("callbacks", wanted=1, missing=["/callback"])


def forget_a_repair_of_a_plan(tables: Tables, history: History) -> None:
    lease = first(tables["leases"], end="result")
    row = {"plan_id": 1, "task_id": lease["task__uuid"], "lease_id": lease["lease_id"], "outcome": "done"}
    tables["plan_rows"].append(row)


def replay_another_result(tables: Tables, history: History) -> None:
    task_id = event(tables, "a2a_result_replayed")["task_id"]
    first(tables["results"], task__uuid=task_id)["content"] = "[]"


def deliver_another_result(tables: Tables, history: History) -> None:
    results = (one.answer["result"] for one in answered(tables, history, "drain"))
    next(result for result in results if result["content"])["content"] = []


def deliver_never(tables: Tables, history: History) -> None:
    task_id = event(tables, "a2a_result_acked")["task_id"]
    kinds = ("a2a_result_acked", "a2a_result_delivered")
    tables["events"][:] = [row for row in tables["events"] if row["task_id"] != task_id or row["kind"] not in kinds]


def acknowledge_nothing(tables: Tables, history: History) -> None:
    delivered = {row["task_id"] for row in tables["events"] if row["kind"] == "a2a_result_delivered"}
    acked = next(row for row in tables["events"] if row["kind"] == "a2a_result_acked" and row["task_id"] in delivered)
    tables["events"].remove(acked)


def change_the_parties(tables: Tables, history: History) -> None:
    tables["results"][0]["recipient__display"] = "stranger@proof"


def lose_a_live_lease(tables: Tables, history: History) -> None:
    first(tables["tasks"], state="resolved")["state"] = "in_flight"


def store_what_nobody_said(tables: Tables, history: History) -> None:
    tables["messages"].append({**tables["messages"][0], "seq": 99})


def store_a_message_twice(tables: Tables, history: History) -> None:
    tables["messages"].append(tables["messages"][0])


def answer_unreadably(tables: Tables, history: History) -> None:
    operation = next(history.acknowledged("post"))
    operation.tries.insert(0, replace(operation.tries[0], status=None, problem="unreadable: no JSON"))


def requeue_by_the_gate(tables: Tables, history: History) -> None:
    """Let the retry gate have requeued an unsafe task, which an operator did."""
    sends = Evidence(history, Rows(**tables)).sends
    for row in tables["events"]:
        data = json.loads(row["data"])
        is_requeue = row["kind"] == "a2a_repair_applied" and data["action"] == "requeue"
        if is_requeue and "idempotency" not in sends[row["task_id"]].facts.get("task", {}):
            row["data"] = json.dumps(data | {"action": "auto_requeue"})


def stop_draining(tables: Tables, history: History) -> None:
    history.note("not_drained", left=[["task", "queued", None]])


def miscount_the_attempts(tables: Tables, history: History) -> None:
    first(tables["tasks"], state="resolved")["attempt"] = 9


def lease_an_attempt_twice(tables: Tables, history: History) -> None:
    leased = event(tables, "a2a_task_leased")
    leased["data"] = json.dumps(json.loads(leased["data"]) | {"attempt": 7})


def lease_the_same_work_to_two(tables: Tables, history: History) -> None:
    """Let two tasks that were leased at the same time ask for the same work."""
    evidence = Evidence(history, Rows(**tables))
    spans = [(*span, task_id) for task_id, life in evidence.lives.items() for span in life.spans.values()]
    mine = sorted(span for span in spans if "task" in evidence.sends[span[2]].facts)
    one, other = next((one[2], other[2]) for one, other in pairwise(mine) if other[0] < one[1] and one[2] != other[2])
    evidence.sends[one].facts["task"]["idempotency"] = {"duplicate_safety": "idempotent", "key": "same"}
    evidence.sends[other].facts["task"] = evidence.sends[one].facts["task"]
    evidence.sends[other].actor = evidence.sends[one].actor


def say_that_it_was_erased(tables: Tables, history: History) -> None:
    task_id = first(tables["results"], status="ok")["task__uuid"]
    erased = {**event(tables, "a2a_result_posted"), "kind": "a2a_erased", "seq": None, "request_id": "erasure"}
    tables["events"].append(erased | {"data": json.dumps({"subject": f"task:{task_id}"})})


def erase_a_live_task(tables: Tables, history: History) -> None:
    say_that_it_was_erased(tables, history)
    first(tables["tasks"], uuid=first(tables["results"], status="ok")["task__uuid"])["state"] = "in_flight"


def refuse_a_repeated_send(tables: Tables, history: History) -> None:
    again = next(history.acknowledged("resend"))
    again.tries[-1] = replace(again.tries[-1], status=409, answer={"code": "task_conflict"})


def refuse_a_stream(tables: Tables, history: History) -> None:
    followed = next(history.acknowledged("follow"))
    followed.tries[-1] = replace(followed.tries[-1], status=404)


def refuse_a_repeated_send_of_an_erased_task(tables: Tables, history: History) -> None:
    task_id = next(history.acknowledged("resend")).facts["task_id"]
    refuse_a_repeated_send(tables, history)
    erased = {**event(tables, "a2a_result_posted"), "kind": "a2a_erased", "seq": None, "request_id": "erasure"}
    tables["events"].append(erased | {"data": json.dumps({"subject": f"task:{task_id}"})})


PLANTED: Mapping[str, tuple[Plant, str]] = {
    plant.__name__: (plant, name)
    for plant, name in [
        (lose_a_task, "acknowledged_task_lost"),
        (lose_a_row, "journal_gap"),
        (lose_the_send, "task_not_journalled"),
        (store_a_task_of_nobody, "unexpected_task"),
        (decide_twice, "request_decided_twice"),
        (repair_twice, "request_decided_twice"),
        (skip_the_check, "decision_without_its_check"),
        (take_twice, "attempt_took_twice"),
        (take_a_result_twice, "attempt_took_twice"),
        (end_a_lease_by_itself, "lease_differs_from_journal"),
        (lease_twice, "two_live_leases"),
        (skip_an_attempt, "attempts_not_counted"),
        (give_a_lease_to_two, "lease_answered_twice"),
        (answer_a_false_lease, "lease_answer_is_false"),
        (lease_to_another, "leased_to_another"),
        (answer_nobody, "leased_to_nobody"),
        (deliver_to_nobody, "delivered_to_nobody"),
        (deliver_to_two, "result_received_twice"),
        (deliver_to_another, "result_to_another"),
        (change_a_result, "acknowledged_result_lost"),
        (delete_a_drained_result, "result_missing"),
        (forget_an_ack, "delivery_differs_from_journal"),
        (acknowledge_before_the_commit, "acknowledged_but_not_done"),
        (ignore_the_fence, "fence_ignored"),
        (compact_a_pending_result, "compacted_too_early"),
        (leave_a_waiter, "waiter_left"),
        (leave_a_task, "task_left_unresolved"),
        (replay_for_another, "replay_of_other_work"),
        (expire_without_a_limit, "expired_without_a_limit"),
        (show_an_end_that_changes, "end_changed"),
        (lose_a_callback, "callback_not_written_once"),
        (keep_an_open_question, "state_without_its_question"),
        (lose_a_message, "said_but_not_stored"),
        (miscount_the_turns, "turns_not_counted"),
        (keep_a_lease_beside_a_question, "question_beside_a_lease"),
        (lose_the_begin_of_an_artifact, "chunk_without_its_artifact"),
        (fail, "server_error"),
        (refuse_what_was_done, "refused_but_done"),
        (answer_never, "never_answered"),
        (answer_another_task, "answer_names_another_task"),
        (call_nobody_back, "callback_lost"),
        (forget_a_repair_of_a_plan, "plan_differs_from_journal"),
        (replay_another_result, "replay_differs"),
        (deliver_another_result, "result_changed"),
        (deliver_never, "result_not_delivered"),
        (acknowledge_nothing, "result_left_unacked"),
        (change_the_parties, "result_of_other_parties"),
        (lose_a_live_lease, "state_without_its_lease"),
        (store_what_nobody_said, "stored_but_not_journalled"),
        (store_a_message_twice, "two_rows_of_one_number"),
        (answer_unreadably, "unreadable_answer"),
        (requeue_by_the_gate, "unsafe_task_requeued"),
        (stop_draining, "not_drained"),
        (miscount_the_attempts, "table_differs_from_journal"),
        (lease_an_attempt_twice, "journal_contradicts_itself"),
        (lease_the_same_work_to_two, "two_leaders"),
        (say_that_it_was_erased, "erased_but_kept"),
        (erase_a_live_task, "erased_too_early"),
    ]
}


def test_a_run_without_faults_breaks_no_promise(run):
    history, found = run

    assert [str(violation) for violation in checker.violations(history, found)] == []
    assert {operation.verb for operation in history.operations} > {
        "send",
        "lease",
        "post",
        "drain",
        "ack",
        "repair",
        "ask",
        "say",
        "follow",
    }


@pytest.mark.parametrize("plant", PLANTED)
def test_a_planted_fault_is_named(run, plant):
    plant_it, name = PLANTED[plant]

    assert name in named_with(plant_it, run)


def test_a_task_that_is_kept_can_be_followed(run):
    assert "unexpected_refusal" in named_with(refuse_a_stream, run)


def test_an_erased_task_may_not_be_sent_again(run):
    assert "unexpected_refusal" in named_with(refuse_a_repeated_send, run)
    assert "unexpected_refusal" not in named_with(refuse_a_repeated_send_of_an_erased_task, run)


def test_a_requeue_that_names_no_lease_may_happen_at_each_delivery(run):
    assert "request_decided_twice" not in named_with(requeue_twice_without_a_lease, run)
