"""The tools of a recipient: receive a task, report on it, ask its sender, answer it, hand it back."""

from __future__ import annotations

from typing import Any

from mailbox.database.bell import topics
from mailbox.dialects.mcp import requests, wire
from mailbox.dialects.mcp.waiting import McpCall, Waiting, awaited
from mailbox.inspection import conversation, lists
from mailbox.life import leasing, results, updates
from mailbox.models import Lease

Json = dict[str, Any]


def receive_task(call: McpCall, wanted: requests.ReceiveTask) -> Waiting[Json]:
    """Lease the oldest task, and wait for it."""
    caller, attempt_id = call.caller, wanted.attempt_id
    leased: list[Lease] = []

    def look() -> bool:
        leased[:] = leasing.lease_tasks(caller, attempt_id=attempt_id)
        return bool(leased) or leasing.is_spent(caller, attempt_id)

    own = topics.agent(caller.agent.pk if caller.agent else None)
    yield from awaited(call, [own], look, wanted.wait_ms, lambda: "No task has come yet.")
    if not leased:
        spent = {"attempt_spent": True} if leasing.is_spent(caller, attempt_id) else {}
        return {"task": None, "lease": None, **spent}
    lease = leased[0]
    newest = conversation.newest_of_senders([lease.task])
    return wire.received(lease, newest.get(lease.task_id))


def held_tasks(call: McpCall, wanted: requests.HeldTasks) -> Json:
    page = lists.leases(call.caller, limit=wanted.limit, cursor=wanted.cursor)
    held = [{"task": wire.task(lease.task, room=wire.OPENING), "lease": wire.lease(lease)} for lease in page.items]
    return {"held": held, "next_cursor": page.next_cursor}


def report_progress(call: McpCall, wanted: requests.ReportProgress) -> Json:
    """Record what the holder reports. A report of nothing is a heartbeat."""
    task_id, lease_id = wanted.task_id, wanted.lease_id
    if said := wanted.updates():
        posted = updates.post_updates(call.caller, task_id, said, lease_id=lease_id, attempt_id=wanted.attempt_id)
        return {"task_id": task_id, "turn": posted.turn}
    return {"task_id": task_id, "turn": leasing.heartbeat(call.caller, task_id, lease_id=lease_id).task.turn}


def ask_sender(call: McpCall, wanted: requests.AskSender) -> Json:
    posted = updates.post_updates(
        call.caller, wanted.task_id, [wanted.update()], lease_id=wanted.lease_id, attempt_id=wanted.attempt_id
    )
    return {"task_id": wanted.task_id, "turn": posted.turn}


def answer_task(call: McpCall, wanted: requests.AnswerTask) -> Json:
    return {"task_id": wanted.task_id, "status": results.post_result(call.caller, wanted.envelope()).status}


def release_task(call: McpCall, wanted: requests.ReleaseTask) -> Json:
    lease = leasing.release(call.caller, wanted.task_id, reason=wanted.reason, lease_id=wanted.lease_id)
    return {"task_id": wanted.task_id, "attempt": lease.attempt}
