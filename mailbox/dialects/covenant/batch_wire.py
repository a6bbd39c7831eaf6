"""Batches as Covenant's JSON. Pure: no queries, no clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

from mailbox.dialects.covenant import conversation_wire, wire
from mailbox.inspection.answers import Beside
from mailbox.life.batches import Drained, Leased
from mailbox.models import Message, Result, Task
from mailbox.words import errors
from mailbox.words.errors import InvalidRequestError, MailboxError
from mailbox.words.json_text import Unstorable

if TYPE_CHECKING:  # the shapes load pydantic
    from mailbox.dialects.covenant import batch_answers


def queued(items: Sequence[Any], outcomes: Sequence[Task | MailboxError]) -> dict[str, Any]:
    """Render the answer to a batch of sends. ``items`` are the items of the request, as they came."""
    posted = [one.uuid for one in outcomes if isinstance(one, Task)]
    return {"kind": "a2a_tasks_queued", "posted": posted, "refused": _refused("tasks", "id", items, outcomes)}


def posted(items: Sequence[Any], outcomes: Sequence[Result | MailboxError]) -> dict[str, Any]:
    """Render the answer to a batch of results. ``items`` are the items of the request, as they came."""
    return {"kind": "a2a_results_posted", **_posted(items, outcomes)}


def leased(
    answered: Leased,
    newest: Mapping[int, Message],
    items: Sequence[Any],
    outcomes: Sequence[Result | MailboxError],
) -> dict[str, Any]:
    """Render the answer to a batch of leases, with the outcomes of its results ``items``.

    ``newest`` has the newest messages of the tasks' senders, by the key of their task.
    """
    leases = [conversation_wire.leased(row, newest) for row in answered.leases]
    spent = {"attempt_spent": True} if answered.is_spent else {}
    return {"kind": "a2a_tasks_leased", "leases": leases, **_posted(items, outcomes), **spent}


def drained(answered: Drained, beside: Mapping[int, Beside], acks: Sequence[UUID | MailboxError]) -> dict[str, Any]:
    """Render the answer to a batch of drains. ``acks`` are the ids to acknowledge, with the errors of bad items."""
    results = [wire.result(row, beside) for row in answered.results]
    done = {"acked": answered.acks.acked, "unknown": answered.acks.unknown}
    refused = [
        _refusal(index, f"ack.{index}", None, one) for index, one in enumerate(acks) if isinstance(one, MailboxError)
    ]
    spent = {"attempt_spent": True} if answered.is_spent else {}
    return {"kind": "a2a_results_drained", "results": results, **done, "refused": refused, **spent}


def _posted(items: Sequence[Any], outcomes: Sequence[Result | MailboxError]) -> dict[str, Any]:
    ids = [one.task.uuid for one in outcomes if isinstance(one, Result)]
    return {"posted": ids, "refused": _refused("results", "task_id", items, outcomes)}


def _refused(
    path: str, id_field: str, items: Sequence[Any], outcomes: Sequence[Task | Result | MailboxError]
) -> list[batch_answers.RefusedItem]:
    return [
        _refusal(index, f"{path}.{index}", _id_of(items[index], id_field), outcome)
        for index, outcome in enumerate(outcomes)
        if isinstance(outcome, MailboxError)
    ]


def _refusal(index: int, path: str, task_id: UUID | None, error: MailboxError) -> batch_answers.RefusedItem:
    if isinstance(error, InvalidRequestError):
        # The whole item is at fault where the single request names its body.
        fields = {path if name == "body" else f"{path}.{name}": problem for name, problem in error.fields.items()}
        message = errors.text_for_program(InvalidRequestError(fields))
        return {"index": index, "task_id": task_id, "code": error.code, "message": message, "fields": fields}
    return {"index": index, "task_id": task_id, "code": error.code, "message": errors.text_for_program(error)}


def _id_of(item: Any, field: str) -> UUID | None:
    """Return the id that an item of the request names, None without a valid one."""
    try:
        return UUID((item.item if isinstance(item, Unstorable) else item)[field])
    except (LookupError, TypeError, ValueError, AttributeError):
        return None
