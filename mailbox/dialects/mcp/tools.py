"""The tools of the door, with the words that a language model reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from mailbox.dialects.mcp import agent_tools, answers, requests, schemas, sender_tools, worker_tools
from mailbox.dialects.mcp.waiting import McpCall, Waiting

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
        run=agent_tools.whoami,
        reads_only=True,
    ),
    "list_agents": McpTool(
        title="List agents",
        description="List the agents that take tasks, with their skills. Use it to choose the recipient of a task.",
        arguments=requests.ListAgents,
        answer=answers.McpAgentPage,
        run=agent_tools.list_agents,
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
        run=worker_tools.receive_task,
    ),
    "held_tasks": McpTool(
        title="List the tasks that you hold",
        description="List the tasks that you have received and not ended. Use it after a restart to go on with them.",
        arguments=requests.HeldTasks,
        answer=answers.HeldPage,
        run=worker_tools.held_tasks,
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
        run=worker_tools.report_progress,
    ),
    "ask_sender": McpTool(
        title="Ask the sender",
        description=(
            "Ask the sender of a task that you hold for input or an authorization. You hold the task no more. Once the "
            "sender has answered, receive_task brings it back with the answer."
        ),
        arguments=requests.AskSender,
        answer=answers.QuestionAsked,
        run=worker_tools.ask_sender,
    ),
    "answer_task": McpTool(
        title="Answer a task",
        description="Post the result of a task that you hold. It is final. The same call can be repeated safely.",
        arguments=requests.AnswerTask,
        answer=answers.TaskAnswered,
        run=worker_tools.answer_task,
        is_idempotent=True,
    ),
    "release_task": McpTool(
        title="Hand a task back",
        description="Hand a task that you hold back to the end of the queue, without a result.",
        arguments=requests.ReleaseTask,
        answer=answers.TaskReleasedShown,
        run=worker_tools.release_task,
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
