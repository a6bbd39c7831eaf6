"""The tools of a sender: send a task, wait for it, read it, list tasks, say more, cancel."""

from __future__ import annotations

from typing import Any

from mailbox.database.bell import topics
from mailbox.dialects.mcp import requests, wire
from mailbox.dialects.mcp.waiting import McpCall, Waiting, awaited
from mailbox.inspection import answers, lists, tasks
from mailbox.life import conversation, expiry, sending
from mailbox.models import Message, Task
from mailbox.words.conversation import Words

MESSAGES, EVENTS = 20, 50  # that one answer has at most
OPEN = (Task.State.QUEUED, Task.State.IN_FLIGHT)

Json = dict[str, Any]


def send_task(call: McpCall, wanted: requests.SendTask) -> Json:
    return wire.sent(sending.send_task(call.caller, wanted.envelope()))


def wait_for_result(call: McpCall, wanted: requests.WaitForResult) -> Waiting[Json]:
    """Wait until the task is resolved, or asks its sender. Return it as it is then."""
    task_id = wanted.task_id
    seen: list[Task] = []

    def look() -> bool:
        seen[:] = [expiry.current(call.caller, task_id)]
        return seen[0].state not in OPEN

    ended = yield from awaited(call, [topics.task(task_id)], look, wanted.wait_ms, lambda: _told(seen[0]))
    task = seen[0] if ended else expiry.current(call.caller, task_id)
    return awaited_task(task)


def _told(task: Task) -> str:
    """Return a sentence about an open task, with the newest words of its holder about its progress."""
    newest, _ = tasks.newest_messages(task, most=1, characters=wire.OPENING)
    progress = newest[0].progress if newest and newest[0].role == Message.Role.AGENT else None
    if progress is None:
        return f"The task is {task.state}."
    note = f": {progress['note']}" if progress["note"] else "."
    return f"The task is {task.state}, {progress['value']:.0%} done{note}"


def awaited_task(task: Task, *, room: int = wire.ROOM) -> Json:
    """Return a task with its result, and with its open question."""
    rendered: Json = {"task": wire.task(task, room=room)}
    if (result := task.result_or_none) is not None:
        rendered["result"] = wire.result(result, answers.beside([result]).get(result.pk), room=room)
    if task.state == Task.State.INTERRUPTED:
        newest, _ = tasks.newest_messages(task, most=1, characters=room)
        rendered["question"] = wire.message(newest[-1], room=room) if newest else None
    return rendered


def read_task(call: McpCall, wanted: requests.ReadTask) -> Json:
    task = expiry.current(call.caller, wanted.task_id)
    said, is_all = tasks.newest_messages(task, most=MESSAGES, characters=wire.ROOM)
    page = tasks.timeline(call.caller, task.uuid, limit=EVENTS, cursor=wanted.timeline_cursor)
    return {
        **awaited_task(task),
        "messages": [wire.message(one) for one in said],
        "earlier_messages": not is_all,
        "timeline": [wire.event(row, call.caller) for row in page.items],
        "timeline_next_cursor": page.next_cursor,
    }


def list_tasks(call: McpCall, wanted: requests.ListTasks) -> Json:
    state = None if wanted.state is None else Task.State(wanted.state)
    page = lists.all_tasks(
        call.caller, side=lists.Side(wanted.side), state=state, limit=wanted.limit, cursor=wanted.cursor
    )
    rendered = [wire.task(entry.task, room=wire.OPENING) for entry in page.items]
    return {"tasks": rendered, "next_cursor": page.next_cursor}


def say(call: McpCall, wanted: requests.Say) -> Json:
    said = conversation.say(call.caller, wanted.task_id, Words(content=wanted.content), attempt_id=wanted.attempt_id)
    row = said.message
    return {"task_id": wanted.task_id, "message_id": row.shown_id, "turn": said.turn}


def cancel_task(call: McpCall, wanted: requests.CancelTask) -> Json:
    sending.cancel(call.caller, wanted.task_id, reason=wanted.reason)
    return {"task_id": wanted.task_id}
