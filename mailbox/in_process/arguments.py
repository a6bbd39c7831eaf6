"""Readers of the arguments that code in this process passes, with the errors that HTTP answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TypeVar
from uuid import UUID

from mailbox.access.agents import directory
from mailbox.access.callers import Caller
from mailbox.inspection import lookup
from mailbox.models import Agent
from mailbox.words import shapes
from mailbox.words.conversation import ArtifactUpdate, Update
from mailbox.words.envelopes import AgentRef, ResultEnvelope, TaskEnvelope, check_pubkey
from mailbox.words.errors import InvalidRequestError

MOST_LISTED = 1000

Envelope = TypeVar("Envelope", TaskEnvelope, ResultEnvelope)


def sender_and_task(given: object) -> tuple[Agent, TaskEnvelope]:
    """Return the sender's row and the whole envelope of a task; raise `MailboxError` for a task that cannot be sent."""
    task = _envelope(given, TaskEnvelope, "task")
    if task.sender is None:
        raise InvalidRequestError({"sender": "is required: set TaskEnvelope.sender"})
    task = replace(
        task,
        id=uuid_or_none(task.id, "id"),
        parent=uuid_or_none(task.parent, "parent"),
        sender=_ref(task.sender, "sender"),
        recipient=_ref(task.recipient, "recipient"),
    )
    task.check()
    return agent(task.sender, "sender"), task


def recipient_and_result(given: object) -> tuple[Agent | None, ResultEnvelope]:
    result = result_envelope(given)
    return lookup.recipient_of(result.task_id), result


def result_envelope(given: object, path: str = "") -> ResultEnvelope:
    result = _envelope(given, ResultEnvelope, path.rstrip(".") or "result")
    lease_id = uuid_or_none(result.lease_id, f"{path}lease_id")
    return replace(result, task_id=uuid(result.task_id, f"{path}task_id"), lease_id=lease_id)


def _envelope(given: object, kind: type[Envelope], path: str) -> Envelope:
    if not isinstance(given, kind):
        raise InvalidRequestError({path: f"must be a {kind.__name__}"})
    return given


def agent(named: object, path: str) -> Agent:
    return directory.identified(Caller.local(), _ref(named, path))


def _ref(named: object, path: str) -> AgentRef:
    if not isinstance(named, Agent | AgentRef):
        return AgentRef.parse(named, path)
    display, pubkey = named.display, named.pubkey
    if display is None and isinstance(pubkey, str):
        check_pubkey(pubkey, path)
        return AgentRef(pubkey=pubkey)
    return AgentRef.parse(display if pubkey is None else {"display": display, "pubkey": pubkey}, path)


def uuid(given: object, path: str) -> UUID:
    try:
        return given if isinstance(given, UUID) else UUID(given if isinstance(given, str) else "")
    except ValueError as error:
        raise InvalidRequestError({path: "must be a UUID"}) from error


def uuid_or_none(given: object, path: str) -> UUID | None:
    return None if given is None else uuid(given, path)


def limit(given: object, path: str = "limit", most: int = MOST_LISTED) -> int:
    if type(given) is not int or not 1 <= given <= most:
        raise InvalidRequestError({path: f"must be a whole number from 1 to {most}"})
    return given


def check_updates(given: Sequence[object]) -> None:
    """Raise `InvalidRequestError` for values that are no updates, and for fields of wrong types. It lists all."""
    found: dict[str, str] = {}
    for number, one in enumerate(given):
        if isinstance(one, Update | ArtifactUpdate):
            found |= {f"updates.{number}.{path}": problem for path, problem in shapes.problems(one)}
        else:
            found[f"updates.{number}"] = "must be an Update or an ArtifactUpdate"
    if found:
        raise InvalidRequestError(found)


def whole_number(given: object, path: str) -> int:
    if type(given) is not int or given < 0:
        raise InvalidRequestError({path: "must be a whole number of at least 0"})
    return given


def timeout(given: object) -> timedelta | None:
    if given is not None and (not isinstance(given, timedelta) or given < timedelta(0)):
        raise InvalidRequestError({"timeout": "must be a timedelta of at least 0, or None to wait for ever"})
    return given


def required(given: str | None, path: str) -> str:
    if given is None:
        raise InvalidRequestError({path: "is required"})
    return given


def refuse(given: object, path: str, action: str) -> None:
    if given is not None:
        raise InvalidRequestError({path: f"is not a field of {action}"})
