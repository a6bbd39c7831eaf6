"""Requests of agents that receive: lease tasks, post updates and results, drain results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from a2a_hub_client._calls.call import Call, Id, Page, get, nothing, page, path, post, whole
from a2a_hub_client.models.conversation import TaskUpdated, Update
from a2a_hub_client.models.sent import Acked, Answer, Drained, Posted, Received
from a2a_hub_client.models.tasks import DeliveredResult, HeldLease, LeasedTask, LeaseState, Result
from a2a_hub_client.models.wire import milliseconds

MOST_LEASED = MOST_POSTED = MOST_DRAINED = MOST_ACKED = 100

_received, _drained, _posted, _acked = whole(Received), whole(Drained), whole(Posted), whole(Acked)
_leased, _lease_state, _updated = whole(LeasedTask), whole(LeaseState), whole(TaskUpdated)
_leases, _results = page("leases", HeldLease), page("results", Result)
_delivered = page("results", DeliveredResult)


def receive(
    attempt_id: Id, *, most: int = 1, wait: float = 0.0, answers: Sequence[Mapping[str, Any]] = ()
) -> Call[Received]:
    """Post ``answers``, which are `Answer.body`, and lease up to ``most`` tasks. The hub waits for the first one."""
    fields = {"max": most, "wait_ms": milliseconds(wait), "attempt_id": attempt_id, "results": answers or None}
    return post("/a2a/tasks/lease", fields, _received, wait=wait)


def lease(task_id: Id, attempt_id: Id) -> Call[LeasedTask]:
    return post(path("a2a", "tasks", task_id, "lease"), {"attempt_id": attempt_id}, _leased)


def leases(cursor: str | None = None) -> Call[Page[HeldLease]]:
    return get("/a2a/leases", _leases, cursor=cursor, limit=100)


def heartbeat(task_id: Id, lease_id: Id | None = None) -> Call[LeaseState]:
    return post(path("a2a", "tasks", task_id, "heartbeat"), {"lease_id": lease_id}, _lease_state)


def post_updates(
    task_id: Id, updates: Sequence[Update | Mapping[str, Any]], *, attempt_id: Id, lease_id: Id | None = None
) -> Call[TaskUpdated]:
    posted = [update.fields if isinstance(update, Update) else update for update in updates]
    fields = {"updates": posted, "lease_id": lease_id, "attempt_id": attempt_id}
    return post(path("a2a", "tasks", task_id, "updates"), fields, _updated)


def post_result(answer: Answer) -> Call[None]:
    """Post a result. A repeat of the same result changes nothing."""
    return post("/a2a/results", answer.body(), nothing)


def post_results(answers: Sequence[Mapping[str, Any]]) -> Call[Posted]:
    """Post ``answers``, which are `Answer.body`, at most `MOST_POSTED`."""
    return post("/a2a/results/batch", {"results": answers}, _posted)


def release(task_id: Id, reason: str, lease_id: Id | None = None) -> Call[None]:
    fields = {"reason": reason, "lease_id": lease_id}
    return post(path("a2a", "tasks", task_id, "release"), fields, nothing, is_repeatable=lease_id is not None)


def drain(attempt_id: Id, *, most: int = 1, wait: float = 0.0, ack: Sequence[Id] = ()) -> Call[Drained]:
    """Acknowledge the results of the tasks in ``ack``, and drain up to ``most``. The hub waits for the first one."""
    fields = {"max": most, "wait_ms": milliseconds(wait), "attempt_id": attempt_id, "ack": ack or None}
    return post("/a2a/results/drain", fields, _drained, wait=wait)


def ack(task_ids: Sequence[Id]) -> Call[Acked]:
    """Acknowledge results. A repeat changes nothing."""
    return post("/a2a/results/ack", {"task_ids": task_ids}, _acked)


def pending_results(cursor: str | None = None) -> Call[Page[Result]]:
    return get("/a2a/results/recent", _results, cursor=cursor, limit=100)


def delivered_results(cursor: str | None = None) -> Call[Page[DeliveredResult]]:
    return get("/a2a/results/delivered", _delivered, cursor=cursor, limit=100)
