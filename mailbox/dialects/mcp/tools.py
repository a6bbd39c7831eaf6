"""The tools of the door, with the words that a language model reads.

The tools about agents say who the caller is, and which agents take tasks. Those of a sender send a task, wait for it,
read it and cancel it. Those of a recipient receive a task, report on it, ask its sender, answer it and hand it back.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeVar

from django.conf import settings
from pydantic import BaseModel

from agentcards import card_document, profiles, tools
from mailbox.database.bell import topics
from mailbox.dialects.mcp import requests, wire
from mailbox.dialects.mcp.messages import McpCall, Waiting, awaited
from mailbox.inspection import answers, conversation, lists, tasks
from mailbox.life import conversation as life_conversation
from mailbox.life import expiry, leasing, results, sending, updates
from mailbox.models import Lease, Message, Task
from mailbox.words.conversation import Words

MESSAGES, EVENTS = 20, 50  # that one answer has at most
OPEN = (Task.State.QUEUED, Task.State.IN_FLIGHT)

Json = dict[str, Any]
Arguments = TypeVar("Arguments", bound=BaseModel)


def send_task(call: McpCall, wanted: requests.SendTask) -> Json:
    return wire.sent(sending.send_task(call.caller, wanted.envelope()))


def wait_for_result(call: McpCall, wanted: requests.WaitForResult) -> Waiting[Json]:
    """Wait until the task is resolved, or asks its sender. Return it as it is then."""
    task_id = wanted.task_id
    seen: list[Task] = []

    def look() -> bool:
        seen[:] = [expiry.current(call.caller, task_id)]
        return seen[0].state not in OPEN

    ended = yield from awaited(call, [topics.task(task_id)], look, wanted.wait_ms, lambda: _progress_of(seen[0]))
    task = seen[0] if ended else expiry.current(call.caller, task_id)
    return awaited_task(task)


def _progress_of(task: Task) -> str:
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
    messages, is_all = tasks.newest_messages(task, most=MESSAGES, characters=wire.ROOM)
    page = tasks.timeline(call.caller, task.uuid, limit=EVENTS, cursor=wanted.timeline_cursor)
    return {
        **awaited_task(task),
        "messages": [wire.message(message) for message in messages],
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
    sent = life_conversation.say(
        call.caller, wanted.task_id, Words(content=wanted.content), attempt_id=wanted.attempt_id
    )
    row = sent.message
    return {"task_id": wanted.task_id, "message_id": row.shown_id, "turn": sent.turn}


def cancel_task(call: McpCall, wanted: requests.CancelTask) -> Json:
    sending.cancel(call.caller, wanted.task_id, reason=wanted.reason)
    return {"task_id": wanted.task_id}


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
    if parts := wanted.updates():
        posted = updates.post_updates(call.caller, task_id, parts, lease_id=lease_id, attempt_id=wanted.attempt_id)
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


def whoami(call: McpCall, wanted: requests.NoArguments) -> Json:
    caller = call.caller
    agent = caller.agent.display if caller.agent else None
    person = None if agent else caller.name.removeprefix("user:")
    return {"agent": agent, "person": person, "role": caller.role, "hub": settings.A2A_HUB_NAME}


def list_agents(call: McpCall, wanted: requests.ListAgents) -> Json:
    registered = tools.registered()
    page = profiles.listing(limit=wanted.limit, cursor=wanted.cursor)
    agents = [
        {
            "name": profile.agent.display,
            "description": card_document.describe(profile),
            "skills": [
                {"name": tool.name, "description": tool.description, "tags": list(tool.tags or ())}
                for tool in registered
                if profile.has(tool)
            ],
            "is_paused": profile.agent.paused_at is not None,
        }
        for profile in page.items
    ]
    return {"agents": agents, "next_cursor": page.next_cursor}


@dataclass(frozen=True, slots=True, kw_only=True)
class McpTool(Generic[Arguments]):
    """A tool. ``run`` returns the answer, or waits for it. The last three fields are MCP's hints about the tool."""

    title: str
    description: str
    arguments: type[Arguments]
    answer: type[BaseModel]
    run: Callable[[McpCall, Arguments], Json | Waiting[Json]]
    reads_only: bool = False
    is_idempotent: bool = False
    is_destructive: bool = False


TOOLS: Mapping[str, McpTool[Any]] = {
    "whoami": McpTool(
        title="Who am I",
        description="Say which agent of the hub you are. Other agents send you tasks under this name.",
        arguments=requests.NoArguments,
        answer=wire.WhoAmI,
        run=whoami,
        reads_only=True,
    ),
    "list_agents": McpTool(
        title="List agents",
        description="List the agents that take tasks, with their skills. Use it to choose the recipient of a task.",
        arguments=requests.ListAgents,
        answer=wire.McpAgentPage,
        run=list_agents,
        reads_only=True,
    ),
    "send_task": McpTool(
        title="Send a task",
        description=(
            "Send a task to another agent. The hub stores it, and the agent works on it when it can. Then call "
            "wait_for_result with the task_id. Give an id of your own: then the call can be repeated safely."
        ),
        arguments=requests.SendTask,
        answer=wire.TaskSent,
        run=send_task,
    ),
    "wait_for_result": McpTool(
        title="Wait for a result",
        description=(
            "Wait until a task that you sent is resolved or asks you something, and return it. If its state is still "
            "queued or in_flight, call this again. If it is interrupted, answer the question with say."
        ),
        arguments=requests.WaitForResult,
        answer=wire.TaskAwaited,
        run=wait_for_result,
        reads_only=True,
    ),
    "read_task": McpTool(
        title="Read a task",
        description="Read a task that you sent or received: its state, result, newest messages and timeline.",
        arguments=requests.ReadTask,
        answer=wire.TaskShownWhole,
        run=read_task,
        reads_only=True,
    ),
    "list_tasks": McpTool(
        title="List tasks",
        description="List the tasks that you sent or received, the newest first.",
        arguments=requests.ListTasks,
        answer=wire.McpTaskPage,
        run=list_tasks,
        reads_only=True,
    ),
    "say": McpTool(
        title="Say more about a task",
        description=(
            "Send a further message to the agent of a task that you sent. If the task is interrupted, the message "
            "answers its question, and the agent goes on."
        ),
        arguments=requests.Say,
        answer=wire.SaidToTask,
        run=say,
    ),
    "cancel_task": McpTool(
        title="Cancel a task",
        description="Cancel a task that you sent. It is final: no result comes after it.",
        arguments=requests.CancelTask,
        answer=wire.TaskCancelledShown,
        run=cancel_task,
        is_idempotent=True,
        is_destructive=True,
    ),
    "receive_task": McpTool(
        title="Receive a task",
        description=(
            "Take the oldest task that was sent to you, and wait for one if there is none. You hold it until you call "
            "answer_task, ask_sender or release_task with its lease_id."
        ),
        arguments=requests.ReceiveTask,
        answer=wire.TaskReceived,
        run=receive_task,
    ),
    "held_tasks": McpTool(
        title="List the tasks that you hold",
        description="List the tasks that you have received and not ended. Use it after a restart to go on with them.",
        arguments=requests.HeldTasks,
        answer=wire.HeldPage,
        run=held_tasks,
        reads_only=True,
    ),
    "report_progress": McpTool(
        title="Report progress",
        description=(
            "Tell the sender of a task that you hold how it goes: a fraction with a note, a message, an artifact. "
            "Without any of these it is a heartbeat."
        ),
        arguments=requests.ReportProgress,
        answer=wire.ProgressReported,
        run=report_progress,
    ),
    "ask_sender": McpTool(
        title="Ask the sender",
        description=(
            "Ask the sender of a task that you hold for input or an authorization. You hold the task no more. Once the "
            "sender has answered, receive_task brings it back with the answer."
        ),
        arguments=requests.AskSender,
        answer=wire.QuestionAsked,
        run=ask_sender,
    ),
    "answer_task": McpTool(
        title="Answer a task",
        description="Post the result of a task that you hold. It is final. The same call can be repeated safely.",
        arguments=requests.AnswerTask,
        answer=wire.TaskAnswered,
        run=answer_task,
        is_idempotent=True,
    ),
    "release_task": McpTool(
        title="Hand a task back",
        description="Hand a task that you hold back to the end of the queue, without a result.",
        arguments=requests.ReleaseTask,
        answer=wire.TaskReleasedShown,
        run=release_task,
        is_idempotent=True,
    ),
}


@cache
def described() -> tuple[Json, ...]:
    """Return all tools as ``tools/list`` shows them."""
    return tuple(
        {
            "name": name,
            "title": tool.title,
            "description": tool.description,
            "inputSchema": _arguments_of(tool.arguments),
            "outputSchema": _answer_of(tool.answer),
            "annotations": {
                "readOnlyHint": tool.reads_only,
                "destructiveHint": tool.is_destructive,
                "idempotentHint": tool.is_idempotent or tool.reads_only,
            },
        }
        for name, tool in TOOLS.items()
    )


def _arguments_of(shape: type[BaseModel]) -> Json:
    """Return the schema of the arguments of a tool.

    An argument that may be null may be left out, so the schema names no null.
    """
    schema: Json = _without_null(_without_titles(shape.model_json_schema()))
    schema.pop("description", None)
    return {"properties": {}, **schema}


def _answer_of(shape: type[BaseModel]) -> Json:
    """Return the schema of the answer of a tool."""
    schema: Json = _without_titles(shape.model_json_schema())
    return schema


def _without_titles(node: Any) -> Any:
    if isinstance(node, list):
        return [_without_titles(part) for part in node]
    if not isinstance(node, dict):
        return node
    return {key: _without_titles(part) for key, part in node.items() if key != "title" or not isinstance(part, str)}


def _without_null(node: Any) -> Any:
    if isinstance(node, list):
        return [_without_null(part) for part in node]
    if not isinstance(node, dict):
        return node
    kept = {key: _without_null(part) for key, part in node.items() if key != "default" or part is not None}
    options = [option for option in kept.pop("anyOf", ()) if option != {"type": "null"}]
    return {**(options[0] if len(options) == 1 else {"anyOf": options}), **kept} if options else kept
