"""Exported inboxes as tasks to import. Source: Marianne, ``from_dict``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from uuid import UUID

from mailbox.access.agents import registration
from mailbox.dialects.marianne import wire
from mailbox.dialects.marianne.values import A2ATask, A2ATaskStatus
from mailbox.upkeep.imports import Kept
from mailbox.words import json_text, names
from mailbox.words.envelopes import ResultEnvelope, ResultStatus
from mailbox.words.errors import InvalidRequestError

_ENDED = {A2ATaskStatus.COMPLETED: ResultStatus.OK, A2ATaskStatus.FAILED: ResultStatus.ERROR}


def kept(owner: str, tasks: Sequence[A2ATask], *, agent_name: str) -> list[Kept]:
    """Return the tasks of an export for `imports.import_tasks`; ``owner`` is the display of the inbox's agent.

    Raises `InvalidRequestError`, which names each task of another inbox and each task without a UUID.
    """
    problems = dict(_problems(owner, tasks, agent_name))
    if problems:
        raise InvalidRequestError(problems)
    addresses = _addresses(owner, tasks)
    return [_kept(owner, addresses[task.source_agent], task) for task in tasks]


def _problems(owner: str, tasks: Sequence[A2ATask], agent_name: str) -> Iterator[tuple[str, str]]:
    own = (owner, names.name_of(owner))
    if agent_name not in own:
        yield "agent_name", f"{agent_name[:100]!r} is not the agent of this inbox"
    for task in tasks:
        path = f"tasks.{task.task_id[:100]}"
        if task.target_agent not in own:
            yield f"{path}.target_agent", f"{task.target_agent[:100]!r} is not the agent of this inbox"
        try:
            UUID(task.task_id)
        except ValueError:
            yield f"{path}.task_id", "not a UUID"
        if problem := json_text.problem_with(task.source_agent):
            yield f"{path}.source_agent", problem


def _addresses(owner: str, tasks: Sequence[A2ATask]) -> dict[str, str]:
    """Return the display of each sender by its name. Displays that differ only in case become different displays."""
    taken = {owner.lower(): owner}
    addresses = {}
    for name in dict.fromkeys(task.source_agent for task in tasks):
        display = registration.address_of(name)
        is_its_own = taken.setdefault(display.lower(), display) == display
        addresses[name] = display if is_its_own else names.spelled(name)
    return addresses


def _kept(owner: str, sender: str, task: A2ATask) -> Kept:
    task_id = UUID(task.task_id)
    result = None
    if (ended := _ENDED.get(task.status)) is not None:
        content = wire.blocks(task.artifacts)
        result = ResultEnvelope(task_id=task_id, status=ended, content=content, error_message=task.failure_reason)
    return Kept(
        task=wire.envelope(
            owner, task.description, source_job_id=task.source_job_id, context=task.context, task_id=task_id
        ),
        sender=sender,
        leased=task.status is A2ATaskStatus.ACCEPTED,
        result=result,
    )
