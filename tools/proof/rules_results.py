"""Rules of results: the stored one is the acknowledged one, and its sender alone receives it, once."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from tools.proof.evidence import ERASED, Evidence, Violation, data_of, of_kind
from tools.proof.replayer import Life
from tools.proof.rows import Row


def stored(evidence: Evidence) -> Iterator[Violation]:
    """An acknowledged result is the stored one, and ended the lease that it named."""
    for task_id, posts in evidence.posts.items():
        life = evidence.lives.get(task_id)
        for post in posts:
            if not post.is_kept:
                continue
            if life is None or life.result is None or life.result["kind"] != "a2a_result_posted":
                yield Violation("acknowledged_result_lost", task_id, post.operation.request_id)
            elif post.given is not None:
                request_id = post.operation.request_id
                row = None if task_id in evidence.erased else evidence.results.get(task_id)
                yield from _as_given(request_id, post.given, data_of(life.result), row)


def _as_given(
    request_id: str, given: Mapping[str, Any], journalled: Mapping[str, Any], row: Row | None
) -> Iterator[Violation]:
    task_id = given["task_id"]
    if given.get("lease_id") not in (None, journalled["lease_id"]):
        detail = f"{request_id} named {given['lease_id']}, and the result ended {journalled['lease_id']}"
        yield Violation("fence_ignored", task_id, detail)
    same = journalled["status"] == given["status"]
    if row is not None:
        same = same and json.loads(row["content"]) == given["content"]
        same = same and row["error_message"] == given.get("error_message")
    if not same:
        yield Violation("acknowledged_result_lost", task_id, f"{request_id}: another result is stored")


def rows(evidence: Evidence) -> Iterator[Violation]:
    """Each resolved task has its one result, whose delivery is the journal's. Only acknowledged results are deleted."""
    for task_id, task in evidence.tasks.items():
        life, row = evidence.lives.get(task_id), evidence.results.get(task_id)
        if task["state"] == "resolved" and row is None:
            yield Violation("result_missing", task_id)
        if row is not None and life is not None and row["delivery"] != _delivery(evidence, life):
            detail = f"the journal leads to {life.delivery}, the table has {row['delivery']}"
            yield Violation("delivery_differs_from_journal", task_id, detail)
        if row is not None and (row["sender__display"], row["recipient__display"]) != (
            task["sender__display"],
            task["recipient__display"],
        ):
            yield Violation("result_of_other_parties", task_id)
    for task_id in evidence.compacted & evidence.lives.keys():
        life = evidence.lives[task_id]
        if life.state != "resolved" or not (life.delivery == "acked" or task_id in evidence.official):
            yield Violation("compacted_too_early", task_id, f"{life.state}, {life.delivery}")


def _delivery(evidence: Evidence, life: Life) -> str | None:
    """Return the delivery of the result by the journal. One of the official protocol is delivered as it is posted."""
    return "delivered" if life.delivery == "pending" and life.task_id in evidence.official else life.delivery


def received(evidence: Evidence) -> Iterator[Violation]:
    """Each result is received by one receive of its own sender, and by no other agent."""
    by_task: dict[str, list[str]] = defaultdict(list)
    for operation, result in evidence.drained:
        task_id = result["task_id"]
        by_task[task_id].append(operation.request_id)
        sender = data_of(life.sent)["sender"] if (life := evidence.lives.get(task_id)) and life.sent else None
        if sender != operation.actor:
            yield Violation("result_to_another", task_id, f"of {sender} to {operation.actor}")
        row = evidence.results.get(task_id)
        if row is None or task_id in evidence.erased:
            continue
        if (row["status"], json.loads(row["content"])) != (result["status"], result["content"]):
            yield Violation("result_changed", task_id, operation.request_id)
    for task_id, requests in by_task.items():
        if len(requests) > 1:
            yield Violation("result_received_twice", task_id, f"by {requests}")


def erasures(evidence: Evidence) -> Iterator[Violation]:
    """An erased task has ended, and nothing of its payload is left."""
    rows = [*evidence.results.values(), *evidence.messages, *evidence.artifacts]
    for row in rows:
        if row["task__uuid"] in evidence.erased and ERASED not in row["content"]:
            yield Violation("erased_but_kept", row["task__uuid"], str(row["content"])[:200])
    for task_id in evidence.erased & evidence.tasks.keys():
        if evidence.tasks[task_id]["state"] != "resolved":
            yield Violation("erased_too_early", task_id)


def deliveries(evidence: Evidence) -> Iterator[Violation]:
    """Each delivered result is known to its sender."""
    for operation in evidence.history.of("drain"):
        for row in of_kind(evidence.by_request[operation.request_id], "a2a_result_delivered"):
            if row["task_id"] not in evidence.known_results and operation.ended_at is not None:
                detail = f"{operation.request_id} took it, faults {operation.faults}"
                yield Violation("delivered_to_nobody", row["task_id"], detail)
    for task_id, life in evidence.lives.items():
        if _delivery(evidence, life) == "pending":
            yield Violation("result_not_delivered", task_id)
        elif life.delivery == "delivered":
            yield Violation("result_left_unacked", task_id)


def callbacks(evidence: Evidence) -> Iterator[Violation]:
    """The end of each task that was sent with a callback is called back."""
    for note in evidence.history.noted("callbacks"):
        for path in note["missing"]:
            yield Violation("callback_lost", path)
    for task_id, task in evidence.tasks.items():
        if task["calls_back"] and task["state"] == "resolved" and len(evidence.deliveries.get(task_id, ())) != 1:
            yield Violation("callback_not_written_once", task_id, str(len(evidence.deliveries.get(task_id, ()))))
