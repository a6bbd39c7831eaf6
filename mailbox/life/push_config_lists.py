"""The webhooks of a task, as its sender and the operators read them. No read shows a token or credentials."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from mailbox.access import capabilities
from mailbox.access.callers import Caller
from mailbox.database import paging
from mailbox.database.paging import Page
from mailbox.models import Agent, PushConfig, Task
from mailbox.words.errors import UnknownTaskError


def get(caller: Caller, task_id: UUID, config_id: str, *, recipient: Agent) -> PushConfig:
    """Return a webhook of the caller's task to ``recipient``.

    Raises `UnknownTaskError` for a task that is not there for the caller, and for an absent webhook.
    """
    config = PushConfig.objects.webhooks().filter(task=_own(caller, task_id, recipient), config_id=config_id).first()
    if config is None:
        raise UnknownTaskError.of(task_id)
    return config


def page(
    caller: Caller, task_id: UUID, *, recipient: Agent, limit: int = 100, cursor: str | None = None
) -> Page[PushConfig]:
    """Return a page of the webhooks of the caller's task to ``recipient``, the oldest first.

    Raises `UnknownTaskError` as `get` does, and `InvalidRequestError` for a cursor of another list or task.
    """
    found = PushConfig.objects.webhooks().filter(task=_own(caller, task_id, recipient))
    name = f"webhooks of {task_id}"
    return paging.keyset(found, "pk", int, is_unique=True, limit=limit, cursor=cursor, name=name)


def of_task(task: Task) -> Sequence[PushConfig]:
    """Return the webhooks of a task, the oldest first."""
    return list(PushConfig.objects.webhooks().filter(task=task).order_by("pk"))


def _own(caller: Caller, task_id: UUID, recipient: Agent) -> Task:
    task = capabilities.own_a2a_tasks(caller, recipient).filter(uuid=task_id).first()
    if task is None:
        raise UnknownTaskError.of(task_id)
    return task
