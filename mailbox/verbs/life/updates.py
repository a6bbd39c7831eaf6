"""Updates: messages and progress that a holder posts while it works."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from mailbox.gate import audit, entries
from mailbox.gate.audit import Journal
from mailbox.gate.callers import Caller
from mailbox.models import Lease, Message, Task
from mailbox.models.message import PROGRESS
from mailbox.verbs.life.leasing import own_lease
from mailbox.words import content, json_text
from mailbox.words.errors import InvalidRequestError

MAX_UPDATES = 100


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
    ``attempt_id`` that was used for other updates; `WrongPartyError` by a public route; `UnknownTaskError`,
    `NotInFlightError`, `LeaseMismatchError`. Locks the task row; journals ``a2a_task_updated`` for each update.
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
        for update in updates:
            _record(task, lease, update, attempt_id, journal)
    return task.journal_seq


def _record(task: Task, lease: Lease, update: Update, attempt_id: UUID | None, journal: Journal) -> None:
    task.change()
    stored = json_text.dumps(update.blocks)
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
