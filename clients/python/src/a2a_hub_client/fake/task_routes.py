"""The routes of the hub in memory for tasks and results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from a2a_hub_client.fake import life, receiving, shown, talking
from a2a_hub_client.fake.requests import Handler, Request
from a2a_hub_client.fake.state import DELIVERED, PENDING, RESOLVED, Json, TaskRow, uuid_of


def send(request: Request) -> Json:
    row = life.send(request.tables, request.caller, request.body)
    return {"task_id": row.id}


def send_many(request: Request) -> Json:
    def one(item: Json) -> Any:
        return life.send(request.tables, request.caller, item).id

    return request.each(request.body["tasks"], one, "id")


def entry(request: Request) -> Json:
    return {"entry": shown.entry(request.task)}


def result(request: Request) -> Json:
    found = shown.result(request.task)
    request.is_empty = found is None
    return {"result": found}


def messages(request: Request) -> Json:
    row, after, limit = request.task, int(request.query.get("after") or 0), int(request.query.get("limit") or 100)
    left = [message for message in row.messages if message["seq"] > after]
    page = left[:limit]
    next_after = page[-1]["seq"] if len(left) > limit else None
    if next_after is None and row.question is not None and row.question > (page[-1]["seq"] if page else after):
        next_after = row.question
    request.is_empty = not page and next_after is None and row.state != RESOLVED
    told = {"task_id": row.id, "state": row.state, "turn": row.turn, "messages": page, "next_after": next_after}
    return told if row.awaits is None else {**told, "awaits": row.awaits}


def say(request: Request) -> Json:
    return talking.say(request.tables, request.caller, request.task, request.body)


def update(request: Request) -> Json:
    return talking.update(request.tables, request.caller, request.task, request.body)


def artifacts(request: Request) -> Json:
    return request.page("artifacts", shown.artifacts(request.task))


def timeline(request: Request) -> Json:
    return request.page("events", request.task.events)


def tree(request: Request) -> Json:
    def below(row: TaskRow, depth: int) -> list[Json]:
        entry = shown.entry(row)
        node = {name: entry.get(name) for name in ("state", "awaits", "outcome", "attempt", "waits_on", "task")}
        nodes = [{**node, "depth": depth, "result": shown.result(row)}]
        for child in request.tables.tasks.values():
            if child.fields.get("parent") == str(row.id):
                nodes += below(child, depth + 1)
        return nodes

    return request.page("nodes", below(request.task, 0))


def cancel(request: Request) -> Json:
    life.cancel(request.tables, request.caller, request.task, request.body.get("reason", ""))
    return {}


def release(request: Request) -> Json:
    lease = receiving.release(request.tables, request.caller, request.task, request.lease_id)
    return {"task_id": request.task.id, "attempt": lease.attempt}


def heartbeat(request: Request) -> Json:
    row = request.task
    lease = receiving.live_lease(row, request.caller, request.lease_id)
    lease.seen = request.tables.now()
    return {"task_id": row.id, "lease": shown.lease(lease, row), "turn": row.turn}


def lease_named(request: Request) -> Json:
    row = request.task
    lease = receiving.lease_named(request.tables, request.caller, row, request.attempt_id)
    return shown.leased(lease, row)


def receive(request: Request) -> Json:
    posted = request.each(request.body.get("results") or [], lambda item: _post(request, item), "task_id")
    most = int(request.body.get("max") or 1)
    rows, is_spent = receiving.receive(request.tables, request.caller, most, request.attempt_id)
    request.is_empty = not rows and not is_spent
    leases = [shown.leased(row.lease, row) for row in rows if row.lease is not None]
    return {"leases": leases, **posted, **_spent(is_spent)}


def leases(request: Request) -> Json:
    held = [
        {"task": shown.task(row), "leased_to": row.lease.holder.id, **shown.lease(row.lease, row)}
        for row in request.tables.tasks.values()
        if row.lease is not None and row.lease.holder is request.caller
    ]
    return request.page("leases", held)


def post_result(request: Request) -> Json:
    return {"task_id": _post(request, request.body)}


def post_results(request: Request) -> Json:
    return request.each(request.body["results"], lambda item: _post(request, item), "task_id")


def _post(request: Request, item: Json) -> Any:
    return receiving.post_result(request.tables, request.caller, item).id


def drain(request: Request) -> Json:
    wanted = [uuid_of(one, "ack") for one in request.body.get("ack") or []]
    acked, unknown = receiving.ack(request.tables, request.caller, wanted)
    most = int(request.body.get("max") or 1)
    rows, is_spent = receiving.drain(request.tables, request.caller, most, request.attempt_id)
    request.is_empty = not rows and not is_spent
    results = [shown.result(row) for row in rows]
    return {"results": results, "acked": acked, "unknown": unknown, "refused": [], **_spent(is_spent)}


def _spent(is_spent: bool) -> Json:
    return {"attempt_spent": True} if is_spent else {}


def ack(request: Request) -> Json:
    wanted = [uuid_of(one, "task_ids") for one in request.body["task_ids"]]
    acked, unknown = receiving.ack(request.tables, request.caller, wanted)
    if unknown and not acked:
        raise life.not_known(unknown[0])
    return {"task_ids": acked, "unknown": unknown}


def _results(request: Request, delivery: str) -> list[TaskRow]:
    own = (row for row in request.tables.tasks.values() if row.sender is request.caller and row.result is not None)
    return sorted((row for row in own if row.delivery == delivery), key=lambda row: row.number)


def pending_results(request: Request) -> Json:
    return request.page("results", [shown.result(row) for row in _results(request, PENDING)])


def delivered_results(request: Request) -> Json:
    after, limit = int(request.query.get("cursor") or 0), int(request.query.get("limit") or 10)
    left = [row for row in _results(request, DELIVERED) if row.number > after]
    told = [
        {**(shown.result(row) or {}), "delivered_at_ms": row.delivered_at, "attempt_id": row.drained_by}
        for row in left[:limit]
    ]
    return {"results": told, "next_cursor": str(left[limit - 1].number) if len(left) > limit else None}


TASK = "/a2a/tasks/(?P<task>[^/]+)"
ROUTES: Mapping[str, Handler] = {
    "POST /a2a/tasks": send,
    "POST /a2a/tasks/batch": send_many,
    "POST /a2a/tasks/lease": receive,
    f"GET {TASK}/entry": entry,
    f"GET {TASK}/result": result,
    f"GET {TASK}/messages": messages,
    f"POST {TASK}/messages": say,
    f"POST {TASK}/updates": update,
    f"GET {TASK}/artifacts": artifacts,
    f"GET {TASK}/timeline": timeline,
    f"GET {TASK}/tree": tree,
    f"POST {TASK}/cancel": cancel,
    f"POST {TASK}/release": release,
    f"POST {TASK}/heartbeat": heartbeat,
    f"POST {TASK}/lease": lease_named,
    "GET /a2a/leases": leases,
    "POST /a2a/results": post_result,
    "POST /a2a/results/batch": post_results,
    "POST /a2a/results/drain": drain,
    "POST /a2a/results/ack": ack,
    "GET /a2a/results/recent": pending_results,
    "GET /a2a/results/delivered": delivered_results,
}
