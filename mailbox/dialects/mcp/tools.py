"""The tools of the door, with the words that a language model reads.

The tools about agents: who the caller is, and which agents take tasks.

The tools of a recipient: receive a task, report on it, ask its sender, answer it, hand it back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeVar

from django.conf import settings
from pydantic import BaseModel

from agentcards import card_document, profiles, tools
from mailbox.database.bell import topics
from mailbox.dialects.mcp import answers, requests, schemas, sender_tools, wire
from mailbox.dialects.mcp.waiting import McpCall, Waiting, awaited
from mailbox.inspection import conversation, lists
from mailbox.life import leasing, results, updates
from mailbox.models import Lease


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


Json = dict[str, Any]
Arguments = TypeVar("Arguments", bound=BaseModel)


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
        answer=answers.WhoAmI,
        run=whoami,
        reads_only=True,
    ),
    "list_agents": McpTool(
        title="List agents",
        description="List the agents that take tasks, with their skills. Use it to choose the recipient of a task.",
        arguments=requests.ListAgents,
        answer=answers.McpAgentPage,
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
        answer=answers.TaskSent,
        run=sender_tools.send_task,
    ),
    "wait_for_result": McpTool(
        title="Wait for a result",
        description=(
            "Wait until a task that you sent is resolved or asks you something, and return it. If its state is still "
            "queued or in_flight, call this again. If it is interrupted, answer the question with say."
        ),
        arguments=requests.WaitForResult,
        answer=answers.TaskAwaited,
        run=sender_tools.wait_for_result,
        reads_only=True,
    ),
    "read_task": McpTool(
        title="Read a task",
        description="Read a task that you sent or received: its state, result, newest messages and timeline.",
        arguments=requests.ReadTask,
        answer=answers.TaskShownWhole,
        run=sender_tools.read_task,
        reads_only=True,
    ),
    "list_tasks": McpTool(
        title="List tasks",
        description="List the tasks that you sent or received, the newest first.",
        arguments=requests.ListTasks,
        answer=answers.McpTaskPage,
        run=sender_tools.list_tasks,
        reads_only=True,
    ),
    "say": McpTool(
        title="Say more about a task",
        description=(
            "Send a further message to the agent of a task that you sent. If the task is interrupted, the message "
            "answers its question, and the agent goes on."
        ),
        arguments=requests.Say,
        answer=answers.SaidToTask,
        run=sender_tools.say,
    ),
    "cancel_task": McpTool(
        title="Cancel a task",
        description="Cancel a task that you sent. It is final: no result comes after it.",
        arguments=requests.CancelTask,
        answer=answers.TaskCancelledShown,
        run=sender_tools.cancel_task,
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
        answer=answers.TaskReceived,
        run=receive_task,
    ),
    "held_tasks": McpTool(
        title="List the tasks that you hold",
        description="List the tasks that you have received and not ended. Use it after a restart to go on with them.",
        arguments=requests.HeldTasks,
        answer=answers.HeldPage,
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
        answer=answers.ProgressReported,
        run=report_progress,
    ),
    "ask_sender": McpTool(
        title="Ask the sender",
        description=(
            "Ask the sender of a task that you hold for input or an authorization. You hold the task no more. Once the "
            "sender has answered, receive_task brings it back with the answer."
        ),
        arguments=requests.AskSender,
        answer=answers.QuestionAsked,
        run=ask_sender,
    ),
    "answer_task": McpTool(
        title="Answer a task",
        description="Post the result of a task that you hold. It is final. The same call can be repeated safely.",
        arguments=requests.AnswerTask,
        answer=answers.TaskAnswered,
        run=answer_task,
        is_idempotent=True,
    ),
    "release_task": McpTool(
        title="Hand a task back",
        description="Hand a task that you hold back to the end of the queue, without a result.",
        arguments=requests.ReleaseTask,
        answer=answers.TaskReleasedShown,
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
            "inputSchema": schemas.arguments_of(tool.arguments),
            "outputSchema": schemas.answer_of(tool.answer),
            "annotations": {
                "readOnlyHint": tool.reads_only,
                "destructiveHint": tool.is_destructive,
                "idempotentHint": tool.is_idempotent or tool.reads_only,
            },
        }
        for name, tool in TOOLS.items()
    )
