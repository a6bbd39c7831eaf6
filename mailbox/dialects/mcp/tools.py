"""The tools of the door. Their docstrings are the words that a language model reads.

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
Run = Callable[[McpCall, Arguments], Json | Waiting[Json]]


@dataclass(frozen=True, slots=True, kw_only=True)
class McpTool(Generic[Arguments]):
    """A tool. ``run`` returns its answer, or what a call waits for. ``hints`` are its annotations in MCP."""

    title: str
    description: str
    arguments: type[Arguments]
    answer: type[BaseModel]
    run: Run[Arguments]
    hints: Mapping[str, bool]


TOOLS: dict[str, McpTool[Any]] = {}  # in the order in which a client sees them


def tool(
    title: str, *, answer: type[BaseModel], reads: bool = False, repeatable: bool = False, destroys: bool = False
) -> Callable[[Run[Arguments]], Run[Arguments]]:
    """Make a function the tool of its name. Its docstring describes it. Its parameter ``wanted`` has the arguments."""
    hints = {"readOnlyHint": reads, "destructiveHint": destroys, "idempotentHint": repeatable or reads}

    def made(run: Run[Arguments]) -> Run[Arguments]:
        description, arguments = " ".join((run.__doc__ or "").split()), run.__annotations__["wanted"]
        TOOLS[run.__name__] = McpTool(
            title=title, description=description, arguments=arguments, answer=answer, run=run, hints=hints
        )
        return run

    return made


@tool("Who am I", answer=wire.WhoAmI, reads=True)
def whoami(call: McpCall, wanted: requests.NoArguments) -> Json:
    """Say which agent of the hub you are.

    Other agents send you tasks under this name.
    """
    caller = call.caller
    agent = caller.agent.display if caller.agent else None
    person = None if agent else caller.name.removeprefix("user:")
    return {"agent": agent, "person": person, "role": caller.role, "hub": settings.A2A_HUB_NAME}


@tool("List agents", answer=wire.McpAgentPage, reads=True)
def list_agents(call: McpCall, wanted: requests.ListAgents) -> Json:
    """List the agents that take tasks, with their skills.

    Use it to choose the recipient of a task.
    """
    registered = tools.registered()
    page = profiles.listing(limit=wanted.limit, cursor=wanted.cursor)
    agents = [
        {
            "name": profile.agent.display,
            "description": card_document.describe(profile),
            "skills": [
                {"name": one.name, "description": one.description, "tags": list(one.tags or ())}
                for one in registered
                if profile.has(one)
            ],
            "is_paused": profile.agent.paused_at is not None,
        }
        for profile in page.items
    ]
    return {"agents": agents, "next_cursor": page.next_cursor}


@tool("Send a task", answer=wire.TaskSent)
def send_task(call: McpCall, wanted: requests.SendTask) -> Json:
    """Send a task to another agent.

    The hub stores it, and the agent works on it when it can. Then call wait_for_result with the task_id. Give an id of
    your own: then the call can be repeated safely.
    """
    return wire.sent(sending.send_task(call.caller, wanted.envelope()))


@tool("Wait for a result", answer=wire.TaskAwaited, reads=True)
def wait_for_result(call: McpCall, wanted: requests.WaitForResult) -> Waiting[Json]:
    """Wait until a task that you sent is resolved or asks you something, and return it.

    If its state is still queued or in_flight, call this again. If it is interrupted, answer the question with say.
    """
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


@tool("Read a task", answer=wire.TaskShownWhole, reads=True)
def read_task(call: McpCall, wanted: requests.ReadTask) -> Json:
    """Read a task that you sent or received: its state, result, newest messages and timeline."""
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


@tool("List tasks", answer=wire.McpTaskPage, reads=True)
def list_tasks(call: McpCall, wanted: requests.ListTasks) -> Json:
    """List the tasks that you sent or received, the newest first."""
    state = None if wanted.state is None else Task.State(wanted.state)
    page = lists.all_tasks(
        call.caller, side=lists.Side(wanted.side), state=state, limit=wanted.limit, cursor=wanted.cursor
    )
    rendered = [wire.task(entry.task, room=wire.OPENING) for entry in page.items]
    return {"tasks": rendered, "next_cursor": page.next_cursor}


@tool("Say more about a task", answer=wire.SaidToTask)
def say(call: McpCall, wanted: requests.Say) -> Json:
    """Send a further message to the agent of a task that you sent.

    If the task is interrupted, the message answers its question, and the agent goes on.
    """
    sent = life_conversation.say(
        call.caller, wanted.task_id, Words(content=wanted.content), attempt_id=wanted.attempt_id
    )
    row = sent.message
    return {"task_id": wanted.task_id, "message_id": row.shown_id, "turn": sent.turn}


@tool("Cancel a task", answer=wire.TaskCancelledShown, repeatable=True, destroys=True)
def cancel_task(call: McpCall, wanted: requests.CancelTask) -> Json:
    """Cancel a task that you sent.

    It is final: no result comes after it.
    """
    sending.cancel(call.caller, wanted.task_id, reason=wanted.reason)
    return {"task_id": wanted.task_id}


@tool("Receive a task", answer=wire.TaskReceived)
def receive_task(call: McpCall, wanted: requests.ReceiveTask) -> Waiting[Json]:
    """Take the oldest task that was sent to you, and wait for one if there is none.

    You hold it until you call answer_task, ask_sender or release_task with its lease_id.
    """
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


@tool("List the tasks that you hold", answer=wire.HeldPage, reads=True)
def held_tasks(call: McpCall, wanted: requests.HeldTasks) -> Json:
    """List the tasks that you have received and not ended.

    Use it after a restart to go on with them.
    """
    page = lists.leases(call.caller, limit=wanted.limit, cursor=wanted.cursor)
    held = [{"task": wire.task(lease.task, room=wire.OPENING), "lease": wire.lease(lease)} for lease in page.items]
    return {"held": held, "next_cursor": page.next_cursor}


@tool("Report progress", answer=wire.ProgressReported)
def report_progress(call: McpCall, wanted: requests.ReportProgress) -> Json:
    """Tell the sender of a task that you hold how it goes: a fraction with a note, a message, an artifact.

    Without any of these it is a heartbeat.
    """
    task_id, lease_id = wanted.task_id, wanted.lease_id
    if parts := wanted.updates():
        posted = updates.post_updates(call.caller, task_id, parts, lease_id=lease_id, attempt_id=wanted.attempt_id)
        return {"task_id": task_id, "turn": posted.turn}
    return {"task_id": task_id, "turn": leasing.heartbeat(call.caller, task_id, lease_id=lease_id).task.turn}


@tool("Ask the sender", answer=wire.QuestionAsked)
def ask_sender(call: McpCall, wanted: requests.AskSender) -> Json:
    """Ask the sender of a task that you hold for input or an authorization.

    You hold the task no more. Once the sender has answered, receive_task brings it back with the answer.
    """
    posted = updates.post_updates(
        call.caller, wanted.task_id, [wanted.update()], lease_id=wanted.lease_id, attempt_id=wanted.attempt_id
    )
    return {"task_id": wanted.task_id, "turn": posted.turn}


@tool("Answer a task", answer=wire.TaskAnswered, repeatable=True)
def answer_task(call: McpCall, wanted: requests.AnswerTask) -> Json:
    """Post the result of a task that you hold.

    It is final. The same call can be repeated safely.
    """
    return {"task_id": wanted.task_id, "status": results.post_result(call.caller, wanted.envelope()).status}


@tool("Hand a task back", answer=wire.TaskReleasedShown, repeatable=True)
def release_task(call: McpCall, wanted: requests.ReleaseTask) -> Json:
    """Hand a task that you hold back to the end of the queue, without a result."""
    lease = leasing.release(call.caller, wanted.task_id, reason=wanted.reason, lease_id=wanted.lease_id)
    return {"task_id": wanted.task_id, "attempt": lease.attempt}


@cache
def described() -> tuple[Json, ...]:
    """Return all tools as ``tools/list`` shows them."""
    return tuple(
        {
            "name": name,
            "title": tool.title,
            "description": tool.description,
            "inputSchema": {"properties": {}, **_arguments_of(tool.arguments)},
            "outputSchema": _tidied(tool.answer.model_json_schema()),
            "annotations": tool.hints,
        }
        for name, tool in TOOLS.items()
    )


def _arguments_of(shape: type[BaseModel]) -> Json:
    """Return the schema of the arguments of a tool.

    An argument that may be null may be left out, so the schema names no null.
    """
    schema: Json = _tidied(shape.model_json_schema(), names_null=False)
    schema.pop("description", None)
    return schema


def _tidied(node: Any, *, names_null: bool = True) -> Any:
    """Return a schema without titles, which repeat names."""
    if isinstance(node, list):
        return [_tidied(part, names_null=names_null) for part in node]
    if not isinstance(node, dict):
        return node
    kept = {
        key: _tidied(part, names_null=names_null)
        for key, part in node.items()
        if key != "title" or not isinstance(part, str)
    }
    if names_null:
        return kept
    if "default" in kept and kept["default"] is None:
        del kept["default"]
    options = [option for option in kept.pop("anyOf", ()) if option != {"type": "null"}]
    return {**(options[0] if len(options) == 1 else {"anyOf": options}), **kept} if options else kept
