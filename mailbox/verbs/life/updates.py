"""Updates: messages and progress that a holder posts while it works."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from mailbox.gate import audit, entries, quotas
from mailbox.gate.audit import Journal
from mailbox.gate.callers import Caller
from mailbox.models import Lease, Message, Task
from mailbox.models.message import PROGRESS
from mailbox.verbs.life.leasing import own_lease
from mailbox.words import content, json_text
from mailbox.words.errors import InvalidRequestError

MAX_UPDATES = 100  # in one call
MOST_UPDATES = 10_000  # of one task; other steps of its life count too
MOST_BYTES = 16 * 1024 * 1024  # of the updates of one task


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """A status update: content blocks, or progress from 0 to 1 with a note, or both."""

    message: Sequence[Mapping[str, Any]] = ()
    progress: float | None = None
    note: str = ""

    @property
    def blocks(self) -> list[dict[str, Any]]:
        """The update as `Message.content` stores it: content blocks, and last the progress."""
        blocks = [dict(block) for block in self.message]
        if self.progress is not None:
            blocks.append({"type": PROGRESS, "value": self.progress, "note": self.note})
        return blocks

    def problems(self, path: str) -> dict[str, str]:
        """Return the problems of the update by path; ``path`` is its own."""
        found = {f"{path}.message.{where}": problem for where, problem in content.problems(self.message)}
        if not self.message and self.progress is None:
            found[path] = "must have a message or progress"
        if self.progress is not None and not 0 <= self.progress <= 1:
            found[f"{path}.progress"] = "must be between 0 and 1"
        if problem := json_text.problem_with(self.note):
            found[f"{path}.note"] = problem
        return found


def post_updates(
    caller: Caller,
    task_id: UUID,
    updates: Sequence[Update],
    *,
    lease_id: UUID | None = None,
    attempt_id: UUID | None = None,
) -> int:
    """Record updates of the live lease's holder, in order; return the journal number of the last.

    All updates are recorded, or none. Sets the lease's ``last_seen_at``. ``attempt_id`` names this call: a repeat with
    the same updates records nothing and returns the same number. Raises `InvalidRequestError`, also for an
    ``attempt_id`` that was used for other updates, and beyond `MOST_UPDATES` or `MOST_BYTES` of one task. Raises
    `WrongPartyError` by a public route, `UnknownTaskError`, `NotInFlightError`, `LeaseMismatchError`. Locks the
    task row, then the stock of its sender, whose bytes grow. Journals ``a2a_task_updated`` for each update.
    """
    problems = {
        path: why for number, update in enumerate(updates) for path, why in update.problems(f"updates.{number}").items()
    }
    if not 1 <= len(updates) <= MAX_UPDATES:
        problems["updates"] = f"must be 1 to {MAX_UPDATES} updates"
    if problems:
        raise InvalidRequestError(problems)
    caller.must_do_more_than_send()
    with audit.decision(caller) as journal:
        task, lease = own_lease(caller, task_id, lease_id, journal.now)
        lease.last_seen_at = journal.now
        lease.save(update_fields=["last_seen_at"])
        if attempt_id is not None and (before := list(Message.objects.posted_by(attempt_id, task))):
            if [message.blocks for message in before] != [update.blocks for update in updates]:
                raise InvalidRequestError({"attempt_id": "was used for other updates of this task"})
            return before[-1].seq
        texts = [json_text.dumps(update.blocks) for update in updates]
        _check_room(task, texts)
        for update, text in zip(updates, texts, strict=True):
            _record(task, lease, update, text, attempt_id, journal)
        quotas.grow(task.sender_id, sum(map(_size, texts)))
    return task.journal_seq


def _size(text: str) -> int:
    return len(text.encode())


def _check_room(task: Task, texts: Sequence[str]) -> None:
    """Raise `InvalidRequestError` if the task's updates would be too many or too large. Its row is locked."""
    earlier = max(0, task.size - _size(task.intent_text) - _size(task.metadata))
    if earlier + sum(map(_size, texts)) > MOST_BYTES:
        raise InvalidRequestError({"updates": f"of one task have at most {MOST_BYTES} bytes"})
    if task.journal_seq + len(texts) > MOST_UPDATES:
        raise InvalidRequestError({"updates": f"of one task are at most {MOST_UPDATES}"})


def _record(task: Task, lease: Lease, update: Update, stored: str, attempt_id: UUID | None, journal: Journal) -> None:
    task.change(size=task.size + _size(stored))
    Message.objects.create(
        task=task,
        seq=task.journal_seq,
        content=stored,
        said_at=journal.now,
        post_attempt_id=attempt_id,
    )
    journal.life(
        task,
        entries.task_updated(lease.lease_id, number=task.journal_seq, content=stored, progress=update.progress),
    )
