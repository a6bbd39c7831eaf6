"""Conversations for Python code in this process, and the readers of its arguments, with the errors that HTTP answers.

Source: A2A, messages, artifacts and task states.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TypeVar
from uuid import UUID

from mailbox.access.agents import directory
from mailbox.access.callers import Caller
from mailbox.database import paging
from mailbox.inspection import conversation, lookup
from mailbox.life import expiry, leasing, updates
from mailbox.life.conversation import Sent, say
from mailbox.life.updates import Posted
from mailbox.models import Agent, Lease
from mailbox.models.artifact import WholeArtifact, whole
from mailbox.words import shapes
from mailbox.words.conversation import ArtifactUpdate, Update, Words
from mailbox.words.envelopes import AgentRef, ResultEnvelope, TaskEnvelope, check_pubkey
from mailbox.words.errors import InvalidRequestError

MOST_LISTED = 1000

Envelope = TypeVar("Envelope", TaskEnvelope, ResultEnvelope)


def sender_and_task(value: object) -> tuple[Agent, TaskEnvelope]:
    """Return the sender's row and the whole envelope of a task; raise `MailboxError` for a task that cannot be sent."""
    task = _envelope(value, TaskEnvelope, "task")
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


def recipient_and_result(value: object) -> tuple[Agent | None, ResultEnvelope]:
    result = result_envelope(value)
    return lookup.recipient_of(result.task_id), result


def result_envelope(value: object, path: str = "") -> ResultEnvelope:
    result = _envelope(value, ResultEnvelope, path.rstrip(".") or "result")
    lease_id = uuid_or_none(result.lease_id, f"{path}lease_id")
    return replace(result, task_id=uuid(result.task_id, f"{path}task_id"), lease_id=lease_id)


def _envelope(value: object, kind: type[Envelope], path: str) -> Envelope:
    if not isinstance(value, kind):
        raise InvalidRequestError({path: f"must be a {kind.__name__}"})
    return value


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


def uuid(value: object, path: str) -> UUID:
    try:
        return value if isinstance(value, UUID) else UUID(value if isinstance(value, str) else "")
    except ValueError as error:
        raise InvalidRequestError({path: "must be a UUID"}) from error


def uuid_or_none(value: object, path: str) -> UUID | None:
    return None if value is None else uuid(value, path)


def page_limit(value: object, path: str = "limit", most: int = MOST_LISTED) -> int:
    if type(value) is not int or not 1 <= value <= most:
        raise InvalidRequestError({path: f"must be a whole number from 1 to {most}"})
    return value


def check_updates(updates: Sequence[object]) -> None:
    """Raise `InvalidRequestError` for values that are no updates, and for fields of wrong types. It lists all."""
    problems: dict[str, str] = {}
    for number, one in enumerate(updates):
        if isinstance(one, Update | ArtifactUpdate):
            problems |= {f"updates.{number}.{path}": problem for path, problem in shapes.shape_problems(one)}
        else:
            problems[f"updates.{number}"] = "must be an Update or an ArtifactUpdate"
    if problems:
        raise InvalidRequestError(problems)


def whole_number(value: object, path: str) -> int:
    if type(value) is not int or value < 0:
        raise InvalidRequestError({path: "must be a whole number of at least 0"})
    return value


def wait_timeout(value: object) -> timedelta | None:
    if value is not None and (not isinstance(value, timedelta) or value < timedelta(0)):
        raise InvalidRequestError({"timeout": "must be a timedelta of at least 0, or None to wait for ever"})
    return value


def required(value: str | None, path: str) -> str:
    if value is None:
        raise InvalidRequestError({path: "is required"})
    return value


def refuse(value: object, path: str, action: str) -> None:
    if value is not None:
        raise InvalidRequestError({path: f"is not a field of {action}"})


class Conversations:
    """The part of `Mailbox` that talks about one task, by its id."""

    def lease_task(self, task_id: UUID | str, *, attempt_id: UUID | str | None = None) -> Lease:
        """Lease one task, queued or interrupted, on behalf of its recipient; see `leasing.lease_task`."""
        task = uuid(task_id, "task_id")
        attempt = uuid_or_none(attempt_id, "attempt_id")
        return leasing.lease_task(Caller.local(lookup.recipient_of(task)), task, attempt_id=attempt)

    def say(self, task_id: UUID | str, said: Words, *, attempt_id: UUID | str | None = None) -> Sent:
        """Send a further message on behalf of the task's sender; see `conversation.say`."""
        if not isinstance(said, Words):
            raise InvalidRequestError({"said": "must be a Words"})
        task = uuid(task_id, "task_id")
        attempt = uuid_or_none(attempt_id, "attempt_id")
        return say(Caller.local(lookup.sender_of(task)), task, said, attempt_id=attempt)

    def post_updates(
        self,
        task_id: UUID | str,
        posted: Sequence[Update | ArtifactUpdate],
        *,
        lease_id: UUID | str | None = None,
        attempt_id: UUID | str | None = None,
    ) -> Posted:
        """Post updates on behalf of the task's holder; see `updates.post_updates`."""
        check_updates(posted)
        task = uuid(task_id, "task_id")
        return updates.post_updates(
            Caller.local(lookup.recipient_of(task)),
            task,
            posted,
            lease_id=uuid_or_none(lease_id, "lease_id"),
            attempt_id=uuid_or_none(attempt_id, "attempt_id"),
        )

    def messages(
        self, task_id: UUID | str, *, after: int = 0, limit: int = 100, timeout: timedelta | None = timedelta(0)
    ) -> conversation.Reading:
        """Return messages of both parties, waiting up to ``timeout`` for the first; see `conversation.read`.

        ``timeout`` None waits without limit. A wait also ends when the task is resolved, or its agent asks without
        words. The ``next_after`` of the answer then leads past the question. A task past its deadline or work timeout
        is expired first, and a task that becomes due during the wait is expired then.
        """
        task = uuid(task_id, "task_id")
        most, least = page_limit(limit), whole_number(after, "after")
        return expiry.read(
            Caller.local(),
            task,
            lambda _: conversation.read(Caller.local(), task, after=least, limit=most),
            wait=wait_timeout(timeout),
        )

    def artifacts(self, task_id: UUID | str) -> Sequence[WholeArtifact]:
        """Return the artifacts of a task in the order of their placement. Raises `UnknownTaskError`."""
        task = uuid(task_id, "task_id")
        most = MOST_LISTED
        rows = paging.every(lambda cursor: conversation.artifacts(Caller.local(), task, limit=most, cursor=cursor))
        return whole(rows)
