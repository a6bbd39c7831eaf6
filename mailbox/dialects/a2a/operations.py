"""The operations of the official protocol that answer at once: one task, the list, a cancel, the extended card.

The receivers of a task's events are created, read, listed and deleted. Their tokens and credentials are written and
never read: only the answer to the request that gives them has them. `OPERATIONS` has all operations by their names.
"""

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from uuid import UUID

from mailbox.dialects.a2a import requests, sending
from mailbox.dialects.a2a.calls import Call, Version, receiver_paths, require_push, target_of
from mailbox.dialects.a2a.errors import TaskNotCancelableError, UnsupportedOperationError
from mailbox.dialects.a2a.sending import Frame
from mailbox.inspection import official_tasks, task_events
from mailbox.inspection.official_tasks import TaskFilter
from mailbox.life import expiry, push_configs
from mailbox.life.sending import cancel
from mailbox.models import PushConfig, Task
from mailbox.words.a2a import v1_0
from mailbox.words.a2a.states import TaskState
from mailbox.words.errors import AlreadyResolvedError, InvalidRequestError, UnauthenticatedError

LONGEST_WAIT = 60.0  # seconds, for a newer generation

Json = dict[str, Any]
Body = TypeVar("Body", bound=requests.Tenanted)


@dataclass(frozen=True, slots=True)
class Operation(Generic[Body]):
    """``run`` returns the result, or an iterator of signs of life and then the result.

    ``stream`` returns an iterator of events instead. ``needs`` is the capability of the card that it takes.
    """

    shape: type[Body]
    run: Callable[[Call, Body], Json | Iterator[Json | None] | None] | None = None
    stream: Callable[[Call, Body], Generator[Frame | None, None, None]] | None = None
    needs: str = ""


def get_task(call: Call, body: requests.GetTaskRequest) -> Json | Iterator[Json | None]:
    """Return one task with its newest messages.

    With the extension for generations, wait for a generation that is greater than the one in the request, at most
    `LONGEST_WAIT`. Until then the iterator yields None as a sign of life.
    """
    known = requests.generation(body.current_generation, "currentGeneration") if call.numbers_events else None
    task = _task(call, body.id)
    return _shown(call, task, body.history_length) if known is None else _newer(call, task, known, body.history_length)


def _newer(call: Call, task: Task, known: int, history_length: int | None) -> Iterator[Json | None]:
    def is_newer() -> bool:
        seen = task_events.view_of(official_tasks.now(task))
        return seen.generation > known or seen.status.state.is_terminal

    yield from sending.looks(call, task, is_newer, LONGEST_WAIT)
    yield _shown(call, official_tasks.now(task), history_length)


def list_tasks(call: Call, body: requests.ListTasksRequest) -> Json:
    """Return a page of the caller's tasks for the agent, the newest status first.

    Anonymous callers share one sender, so they see only the tasks of a context that the hub made and they name.
    """
    if call.caller.is_anonymous and not sending.is_of_hub(body.context_id or ""):
        return {"tasks": [], "nextPageToken": "", "pageSize": body.page_size, "totalSize": 0}
    wanted = TaskFilter(
        context_id=body.context_id or None,
        state=None if body.status is None else TaskState(body.status),
        since=body.status_timestamp_after,
    )
    try:
        page = official_tasks.listing(
            call.sender, call.agent, wanted, limit=body.page_size, cursor=body.page_token or None
        )
    except InvalidRequestError as error:
        raise InvalidRequestError({"pageToken": "is not a token of this list"}) from error
    tasks = [
        v1_0.task(
            view,
            history_length=body.history_length,
            artifacts=body.include_artifacts,
            numbered=call.numbers_events,
        )
        for view in task_events.views(page.tasks)
    ]
    return {
        "tasks": tasks,
        "nextPageToken": page.next_cursor or "",
        "pageSize": body.page_size,
        "totalSize": page.total,
    }


def cancel_task(call: Call, body: requests.CancelTaskRequest) -> Json:
    """Cancel a task; return it, also to a repeat. Raises `TaskNotCancelableError` for a task that ended otherwise."""
    task = _task(call, body.id)
    try:
        cancel(call.caller, task.uuid)
    except AlreadyResolvedError as error:
        raise TaskNotCancelableError(task_id=task.uuid) from error
    return _shown(call, official_tasks.now(task), None)


def extended_card(call: Call, body: requests.GetExtendedAgentCardRequest) -> Json:
    """Return the card with the tools that only callers with a key see."""
    if call.caller.is_anonymous:
        raise UnauthenticatedError
    call.must_be_an_agents()
    return call.official.extended_card(is_for_0_3=call.version == Version.V0_3)


def _task(call: Call, task_id: str) -> Task:
    """Return a task of the caller. A task whose time is up is resolved as expired first."""
    task = official_tasks.find(call.sender, call.agent, task_id)
    if task.state != Task.State.RESOLVED and (task.deadline_ms is not None or task.work_timeout is not None):
        return expiry.current(call.caller, task.uuid)
    return task


def _shown(call: Call, task: Task, history_length: int | None) -> Json:
    return v1_0.task(task_events.view_of(task), history_length=history_length, numbered=call.numbers_events)


def create_config(call: Call, body: requests.CreatePushConfigRequest) -> Json:
    """Add a receiver, or replace the one of this id; return it with what the request gave."""
    with receiver_paths(""):
        config = push_configs.set_config(
            call.caller, _task_id(call, body.task_id), target_of(call, body), recipient=call.agent
        )
    shown = _shown_config(config, body.task_id)
    if body.token:
        shown["token"] = body.token
    if body.authentication and body.authentication.credentials:
        shown["authentication"]["credentials"] = body.authentication.credentials
    return shown


def get_config(call: Call, body: requests.GetPushConfigRequest) -> Json:
    """Return a receiver. Raises `UnknownTaskError` for an unknown one."""
    task_id = _task_id(call, body.task_id)
    return _shown_config(push_configs.config_of(call.caller, task_id, body.id, recipient=call.agent), body.task_id)


def list_configs(call: Call, body: requests.ListPushConfigsRequest) -> Json:
    """Return a page of a task's receivers, oldest first."""
    with receiver_paths(""):
        page = push_configs.page_of_configs(
            call.caller,
            _task_id(call, body.task_id),
            recipient=call.agent,
            limit=body.page_size,
            cursor=body.page_token or None,
        )
    return {
        "configs": [_shown_config(config, body.task_id) for config in page.items],
        "nextPageToken": page.next_cursor or "",
    }


def delete_config(call: Call, body: requests.DeletePushConfigRequest) -> None:
    """Delete a receiver. One that is not there is deleted already."""
    push_configs.delete_config(call.caller, _task_id(call, body.task_id), body.id, recipient=call.agent)


def _task_id(call: Call, task_id: str) -> UUID:
    return official_tasks.find(call.sender, call.agent, task_id).uuid


def _shown_config(config: PushConfig, task_id: str) -> Json:
    shown: Json = {"id": config.config_id, "taskId": task_id, "url": config.url}
    if config.auth_scheme:
        shown["authentication"] = {"scheme": config.auth_scheme}
    return shown


OPERATIONS: Mapping[str, Operation[Any]] = {
    "SendMessage": Operation(requests.SendMessageRequest, run=sending.outcome),
    "SendStreamingMessage": Operation(requests.SendMessageRequest, stream=sending.send_and_follow, needs="streaming"),
    "GetTask": Operation(requests.GetTaskRequest, run=get_task),
    "ListTasks": Operation(requests.ListTasksRequest, run=list_tasks),
    "CancelTask": Operation(requests.CancelTaskRequest, run=cancel_task),
    "SubscribeToTask": Operation(requests.SubscribeToTaskRequest, stream=sending.subscribe, needs="streaming"),
    "CreateTaskPushNotificationConfig": Operation(requests.CreatePushConfigRequest, run=create_config, needs="push"),
    "GetTaskPushNotificationConfig": Operation(requests.GetPushConfigRequest, run=get_config, needs="push"),
    "ListTaskPushNotificationConfigs": Operation(requests.ListPushConfigsRequest, run=list_configs, needs="push"),
    "DeleteTaskPushNotificationConfig": Operation(requests.DeletePushConfigRequest, run=delete_config, needs="push"),
    "GetExtendedAgentCard": Operation(requests.GetExtendedAgentCardRequest, run=extended_card, needs="extended card"),
}


def require(call: Call, operation: Operation[Any]) -> None:
    """Raise the error of a capability that the card of the agent denies."""
    if operation.needs == "streaming" and not call.official.profile.streaming:
        raise UnsupportedOperationError("This agent does not stream. Send the message, and read its task.")
    if operation.needs == "extended card" and not call.official.profile.extended_card:
        raise UnsupportedOperationError("This agent has no extended card.")
    if operation.needs == "push":
        require_push(call)
