"""Inboxes on their way in and out as JSON. Source: Marianne, ``to_dict`` and ``from_dict``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from uuid import UUID

from mailbox.dialects.marianne import wire
from mailbox.dialects.marianne.values import A2ATask, A2ATaskStatus
from mailbox.verbs.upkeep.importing import Kept
from mailbox.words.envelopes import ResultEnvelope, ResultStatus
from mailbox.words.errors import InvalidRequestError

_ENDED = {A2ATaskStatus.COMPLETED: ResultStatus.OK, A2ATaskStatus.FAILED: ResultStatus.ERROR}


def kept(owner: str, tasks: Sequence[A2ATask], *, agent_name: str) -> list[Kept]:
    """Return the tasks of an export as the hub takes them in; ``owner`` is the display of the inbox's agent.

    Raises `InvalidRequestError` naming every task that is not one of this inbox or has no UUID.
    """
    problems = dict(_problems(owner, tasks, agent_name))
    if problems:
        raise InvalidRequestError(problems)
    return [_kept(owner, task) for task in tasks]


def _problems(owner: str, tasks: Sequence[A2ATask], agent_name: str) -> Iterator[tuple[str, str]]:
    names = (owner, wire.name_of(owner))
    if agent_name not in names:
        yield "agent_name", f"{agent_name[:100]!r} is not the agent of this inbox"
    for task in tasks:
        path = f"tasks.{task.task_id[:100]}"
        if task.target_agent not in names:
            yield f"{path}.target_agent", f"{task.target_agent[:100]!r} is not the agent of this inbox"
        try:
            UUID(task.task_id)
        except ValueError:
            yield f"{path}.task_id", "not a UUID"


def _kept(owner: str, task: A2ATask) -> Kept:
    task_id = UUID(task.task_id)
    result = None
    if (ended := _ENDED.get(task.status)) is not None:
        content = wire.blocks(task.artifacts)
        result = ResultEnvelope(task_id=task_id, status=ended, content=content, error_message=task.failure_reason)
    return Kept(
        task=wire.envelope(
            owner, task.description, source_job_id=task.source_job_id, context=task.context, task_id=task_id
        ),
        sender=task.source_agent,
        leased=task.status is A2ATaskStatus.ACCEPTED,
        result=result,
    )
