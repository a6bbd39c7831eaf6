"""What a holder says while it works."""

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
    """One thing said: a message of content blocks, or how far the work is (0 to 1) with a note; not both empty."""

    message: Sequence[Mapping[str, Any]] = ()
    progress: float | None = None
    note: str = ""

    @property
    def said(self) -> list[dict[str, Any]]:
        """It as a message keeps it: content blocks, and last how far the work is."""
        blocks = [dict(block) for block in self.message]
        if self.progress is not None:
            blocks.append({"type": PROGRESS, "value": self.progress, "note": self.note})
        return blocks

    def problems(self, path: str) -> dict[str, str]:
        """Return what is wrong with it, by path."""
        found = {f"{path}.message.{where}": problem for where, problem in content.problems(self.message)}
        if not self.message and self.progress is None:
            found[path] = "an update has a message or progress"
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
    """Record what the holder of the live lease says, in order; each is one numbered row of the task's journal.

    Also moves the lease's ``last_seen_at``. All or nothing; returns the number of the last row. ``attempt_id`` names
    this call: the same id for the same task with the same updates records nothing more and returns the same number.
    Raises `InvalidRequestError`, also for an id that other updates were posted with, `UnknownTaskError`,
    `NotInFlightError`, `LeaseMismatchError`. Locks the task row; journals ``a2a_task_updated``.
    """
    problems = {
        path: why for number, update in enumerate(updates) for path, why in update.problems(f"updates.{number}").items()
    }
    if not 1 <= len(updates) <= MAX_UPDATES:
        problems["updates"] = f"send 1 to {MAX_UPDATES} at once"
    if problems:
        raise InvalidRequestError(problems)
    with audit.decision(caller) as journal:
        task, lease = own_lease(caller, task_id, lease_id, journal.now)
        lease.last_seen_at = journal.now
        lease.save(update_fields=["last_seen_at"])
        if attempt_id is not None and (before := list(Message.objects.posted_by(attempt_id, task))):
            if [message.blocks for message in before] != [update.said for update in updates]:
                raise InvalidRequestError({"attempt_id": "other updates of this task were posted with it"})
            return before[-1].seq
        for update in updates:
            _record(task, lease, update, attempt_id, journal)
    return task.journal_seq


def _record(task: Task, lease: Lease, update: Update, attempt_id: UUID | None, journal: Journal) -> None:
    task.change()
    Message.objects.create(
        task=task,
        seq=task.journal_seq,
        content=json_text.dumps(update.said),
        said_at=journal.now,
        post_attempt_id=attempt_id,
    )
    journal.life(
        task,
        entries.task_updated(lease.lease_id, message=update.message, progress=update.progress, note=update.note),
    )
