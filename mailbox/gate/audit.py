"""The journal: the only place that makes an AuditEvent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone

from mailbox.database import write_turns
from mailbox.gate import capabilities
from mailbox.gate.callers import Caller
from mailbox.gate.requests import Request
from mailbox.models import AuditEvent, Task
from mailbox.words import json_text
from mailbox.words.errors import MailboxError
from mailbox.words.kinds import Entry, Kind, LifeEntry

Decided = TypeVar("Decided")


class Journal:
    """The rows of one decision, written together at its end. ``now`` is the decision's one instant."""

    def __init__(self, caller: Caller) -> None:
        self.now: datetime = timezone.now()
        self._caller = caller
        self._rows: list[AuditEvent] = []

    def admit(self, request: Request) -> None:
        """Require the capability for ``request``, count one use of its grant, and add the row of the check.

        Raise `CapabilityMissingError` or `CapabilityScopeMismatchError`, as `capabilities.require` and `Permit.use` do.
        """
        permit = capabilities.require(self._caller, request, self.now)
        permit.use(self.now)
        self.beside(permit.check)

    def life(self, task: Task, entry: LifeEntry[Any]) -> None:
        """Add the row of a change to ``task``, under the journal number that the change took."""
        self._add(entry.kind, task.uuid, task.journal_seq, entry.data)

    def beside(self, entry: Entry[Any]) -> None:
        """Add a row that belongs to no task's life: a check, a refusal, an administrative act."""
        self._add(entry.kind, entry.task_id, None, entry.data)

    def write(self) -> list[AuditEvent]:
        """Insert the rows, in the current transaction; return them."""
        return AuditEvent.objects.bulk_create(self._rows)

    def _add(self, kind: Kind, task_id: UUID | None, seq: int | None, data: Mapping[str, Any]) -> None:
        agent = self._caller.agent
        self._rows.append(
            AuditEvent(
                kind=kind,
                actor=self._caller.name,
                actor_pubkey=agent.pubkey if agent else None,
                task_id=task_id,
                seq=seq,
                data=json_text.dumps(data),
                at=self.now,
                request_id=self._caller.request_id,
                source=self._caller.source,
            )
        )


@contextmanager
def decision(caller: Caller) -> Iterator[Journal]:
    """Take one decision in one durable transaction: the change and its journal rows commit together.

    A refusal rolls the change back and then commits its own row (`MailboxError.entry`) alone, so that
    nothing can lose it. On SQLite the transaction holds the write lock from its first moment.
    """
    try:
        with write_turns.turn(), transaction.atomic(durable=True):
            journal = Journal(caller)
            yield journal
            journal.write()
    except MailboxError as refusal:
        if refusal.entry is not None:
            note(caller, refusal.entry)
        raise


def once_more_on_conflict(decide: Callable[[], Decided]) -> Decided:
    """Decide again when a unique constraint stopped a racing twin: the second look finds the first one's row."""
    try:
        return decide()
    except IntegrityError:
        return decide()


def note(caller: Caller, entry: Entry[Any]) -> AuditEvent:
    """Commit one row that stands alone; return it."""
    journal = Journal(caller)
    journal.beside(entry)
    with write_turns.turn(), transaction.atomic(durable=True):
        (row,) = journal.write()
    return row
