"""The receivers of a task's events: create, read, list, delete, and with a message. Source: A2A 1.0.

Tokens and credentials are written and never read: only the answer to the request that gives them has them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from mailbox.dialects.a2a.calls import Call
from mailbox.dialects.a2a.errors import PushNotificationNotSupportedError
from mailbox.dialects.a2a.requests import (
    CreatePushConfigRequest,
    DeletePushConfigRequest,
    GetPushConfigRequest,
    ListPushConfigsRequest,
    PushConfigFields,
    SendMessageRequest,
)
from mailbox.inspection import official_tasks
from mailbox.life import push_configs
from mailbox.life.push_configs import delete_config, set_config
from mailbox.models import PushConfig
from mailbox.words.errors import InvalidRequestError
from mailbox.words.push import PushProtocol, PushTarget

_PATHS: Mapping[str, str] = {
    "config_id": "id",
    "auth_scheme": "authentication.scheme",
    "auth_credentials": "authentication.credentials",
    "cursor": "pageToken",
}
_INLINE = "push."  # begins the paths of the receiver that came with a message

Json = dict[str, Any]


def require(call: Call) -> None:
    """Raise `PushNotificationNotSupportedError` if the agent's card denies them."""
    if not call.official.profile.push_notifications:
        raise PushNotificationNotSupportedError


def create(call: Call, body: CreatePushConfigRequest) -> Json:
    """Add a receiver, or replace the one of this id; return it with what the request gave."""
    with _paths(""):
        config = set_config(call.caller, _task_id(call, body.task_id), _target(call, body), recipient=call.agent)
    shown = _shown(config, body.task_id)
    if body.token:
        shown["token"] = body.token
    if body.authentication and body.authentication.credentials:
        shown["authentication"]["credentials"] = body.authentication.credentials
    return shown


def get(call: Call, body: GetPushConfigRequest) -> Json:
    """Return a receiver. Raises `UnknownTaskError` for an unknown one."""
    task_id = _task_id(call, body.task_id)
    return _shown(push_configs.config_of(call.caller, task_id, body.id, recipient=call.agent), body.task_id)


def listing(call: Call, body: ListPushConfigsRequest) -> Json:
    """Return a page of a task's receivers, oldest first."""
    with _paths(""):
        page = push_configs.page_of_configs(
            call.caller,
            _task_id(call, body.task_id),
            recipient=call.agent,
            limit=body.page_size,
            cursor=body.page_token or None,
        )
    return {
        "configs": [_shown(config, body.task_id) for config in page.items],
        "nextPageToken": page.next_cursor or "",
    }


def delete(call: Call, body: DeletePushConfigRequest) -> None:
    """Delete a receiver. One that is not there is deleted already."""
    delete_config(call.caller, _task_id(call, body.task_id), body.id, recipient=call.agent)


def inline_target(call: Call, body: SendMessageRequest) -> PushTarget | None:
    """Return the receiver that comes with a message; None without one."""
    config = body.configuration.task_push_notification_config
    if config is None:
        return None
    require(call)
    return _target(call, config)


@contextmanager
def inline_paths() -> Iterator[None]:
    """Let the problems of a receiver that comes with a message have the paths of its request."""
    with _paths("configuration.taskPushNotificationConfig."):
        yield


@contextmanager
def _paths(beginning: str) -> Iterator[None]:
    try:
        yield
    except InvalidRequestError as error:
        raise InvalidRequestError(
            {_path(path, beginning): problem for path, problem in error.fields.items()}
        ) from error


def _path(path: str, beginning: str) -> str:
    if beginning and not path.startswith(_INLINE):
        return path
    name = path.removeprefix(_INLINE)
    return beginning + _PATHS.get(name, name)


def _task_id(call: Call, task_id: str) -> UUID:
    return official_tasks.find(call.sender, call.agent, task_id).uuid


def _target(call: Call, config: PushConfigFields) -> PushTarget:
    authentication = config.authentication
    return PushTarget(
        url=config.url,
        config_id=config.id or None,
        token=config.token or None,
        auth_scheme=authentication.scheme if authentication else None,
        auth_credentials=(authentication.credentials or None) if authentication else None,
        protocol=PushProtocol(call.version),
    )


def _shown(config: PushConfig, task_id: str) -> Json:
    shown: Json = {"id": config.config_id, "taskId": task_id, "url": config.url}
    if config.auth_scheme:
        shown["authentication"] = {"scheme": config.auth_scheme}
    return shown
