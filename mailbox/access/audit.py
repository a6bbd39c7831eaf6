"""The writer of the journal: each decision and its journal rows are one transaction.

No other module makes an AuditEvent, except the fast form, `mailbox/life/fast_path`. Of refusals that repeat, the
journal has the first rows of a minute, and then one row with the number of the rest. A block of code can learn which
tasks it changes.
"""

import threading
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from django.db import IntegrityError, OperationalError, connection, transaction
from django.utils import timezone

from mailbox.access import capabilities, requests
from mailbox.access.callers import Caller
from mailbox.database import outages, write_turns
from mailbox.database.bell import ringing, topics
from mailbox.journal import hub_entries
from mailbox.models import AuditEvent, Task
from mailbox.words import json_text
from mailbox.words.errors import MailboxError
from mailbox.words.kinds import Entry, Kind, LifeEntry

_noted: ContextVar[dict[UUID, None] | None] = ContextVar("touched", default=None)
MOST_ROWS = 20  # in a minute, of one actor, kind and action
MINUTE = 60.0  # seconds
MOST_REMEMBERED = 10_000
Refusal = tuple[str, str, str]  # actor, kind, action
Key = TypeVar("Key", bound=Hashable)
MOST_CONFLICTS = 4
Decided = TypeVar("Decided")


@contextmanager
def noted_tasks() -> Iterator[dict[UUID, None]]:
    """Yield the ids of the tasks that the block changes, in their order, as keys that come during the block."""
    task_ids: dict[UUID, None] = {}
    token = _noted.set(task_ids)
    try:
        yield task_ids
    finally:
        _noted.reset(token)


def note_tasks(tasks: Iterable[UUID]) -> None:
    """Tell the block around this call that these tasks change. Without such a block nothing happens."""
    noted = _noted.get()
    if noted is not None:
        noted.update(dict.fromkeys(tasks))


@dataclass(slots=True)
class _Minute:
    caller: Caller
    begun: float
    rows: int = 0
    left_out: int = 0


class RepeatedRefusals:
    """The refusals of this process, by actor, kind and action. Those not yet in the journal are lost when it ends."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._minutes: dict[Refusal, _Minute] = {}

    def admits(self, caller: Caller, entry: Entry) -> bool:
        """Whether the refusal gets a row of its own. If it does not, it is counted for a later row."""
        key = caller.name, str(entry.row_kind), _action(entry)
        now = time.monotonic()
        with self._lock:
            minute = self._minutes.setdefault(key, _Minute(caller, now))
            minute.rows += 1
            if minute.rows <= MOST_ROWS:
                return True
            minute.caller, minute.left_out = caller, minute.left_out + 1
            return False

    def due(self) -> Sequence[tuple[Caller, Entry]]:
        """Return the rows of the minutes that have ended, each with its actor, and forget those minutes.

        The oldest minute ends early, if more than `MOST_REMEMBERED` are under way.
        """
        now = time.monotonic()
        with self._lock:
            ended = [key for key, minute in self._minutes.items() if now - minute.begun >= MINUTE]
            ended += list(self._minutes)[: max(0, len(self._minutes) - len(ended) - MOST_REMEMBERED)]
            minutes = [(key, self._minutes.pop(key)) for key in dict.fromkeys(ended)]
        return [
            (minute.caller, hub_entries.RefusalsRepeatedEntry(kind, action, minute.left_out))
            for (_, kind, action), minute in minutes
            if minute.left_out
        ]

    def clear(self) -> None:
        with self._lock:
            self._minutes.clear()

    def __bool__(self) -> bool:
        return bool(self._minutes)


def _action(entry: Entry) -> str:
    """Return what was refused, without the agent that it was aimed at: callers may invent agents."""
    data = entry.data
    required = data.get("required_actions") or [data.get("action") or data.get("quota") or data.get("reason") or ""]
    action = str(required[0])
    return next((verb for verb in requests.TARGETED if action.startswith(f"{verb}.")), action)


@dataclass(slots=True)
class FailureCount:
    count: int = 0  # since the last row
    noted_at: float = float("-inf")
    address: str = ""  # of the newest failure


class FailureCounts(dict[Key, FailureCount]):
    """The failures of this process, of which the journal gets at most one row a minute and key.

    Those not yet in the journal are lost when the process ends.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def add(self, key: Key, address: str) -> None:
        """Count a failure for the next row of its key."""
        with self._lock:
            failures = self.setdefault(key, FailureCount())
            failures.count += 1
            failures.address = address

    def due(self) -> Sequence[tuple[Key, int, str]]:
        """Return the rows that are due, each by its key, its count and the newest address."""
        now, due = time.monotonic(), []
        with self._lock:
            for key, failures in self.items():
                if failures.count and now - failures.noted_at >= MINUTE:
                    due.append((key, failures.count, failures.address))
                    failures.count, failures.noted_at = 0, now
        return due


_repeated_refusals = RepeatedRefusals()


class Journal:
    """The journal rows of one decision, written together at its end. ``now`` is the time of the decision."""

    def __init__(self, caller: Caller) -> None:
        self.now: datetime = timezone.now()
        self._caller = caller
        self._rows: list[AuditEvent] = []
        self._topics: list[str] = []

    def admit(self, request: requests.Request) -> None:
        """Require the capability for ``request``, count one use of its grant, and add the row of the check.

        Raise `CapabilityMissingError` or `CapabilityScopeMismatchError`, as `capabilities.require` and `Permit.use` do.
        """
        permit = capabilities.require(self._caller, request, self.now)
        permit.use(request, self.now)
        self.beside(permit.check)

    def life(self, task: Task, entry: LifeEntry) -> None:
        """Add the row of a change to ``task``, with the number that `Task.change` took for it."""
        self._add(entry.row_kind, task.uuid, task.journal_seq, entry.data)
        self._topics += topics.of_task(entry.row_kind, task)

    def beside(self, entry: Entry) -> None:
        """Add a row without a number: a check, a refusal, an administrative act."""
        self._add(entry.row_kind, entry.task_id, None, entry.data)
        self._topics += topics.of_kind(entry.row_kind)

    def write(self) -> list[AuditEvent]:
        """Insert the rows in the current transaction, and spend the nonce of a signed request; return the rows.

        `committed` must follow the commit. Raises `BadSignatureError` if another request has spent the nonce.
        """
        if self._caller.nonce is not None:
            self._caller.nonce.spend()
        return AuditEvent.objects.bulk_create(self._rows)

    def committed(self) -> None:
        """Note that the transaction of `write` was committed, and wake those who wait for its changes."""
        ringing.ring(self._topics)
        note_tasks(row.task_id for row in self._rows if row.task_id is not None and row.seq is not None)
        if self._caller.nonce is not None:
            self._caller.nonce.committed()

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
                address=self._caller.address,
            )
        )


@contextmanager
def decision(caller: Caller) -> Iterator[Journal]:
    """Take one decision in one durable transaction, which commits the change together with its journal rows.

    A `MailboxError` rolls the change back. Then `refuse` notes its own row, `MailboxError.entry`. Without one,
    `outages.confirm_reads` confirms the rows that the decision read. If the session has ended, `OperationalError` is
    raised instead. On SQLite the transaction takes the write lock when it begins.
    """
    session: object = None
    try:
        with write_turns.turn(), transaction.atomic(durable=True):
            journal, session = Journal(caller), connection.connection
            yield journal
            journal.write()
        journal.committed()
    except MailboxError as refusal:
        if connection.connection is not session:  # after a failed rollback, Django connects anew, perhaps elsewhere
            raise OperationalError("the session of the decision has ended") from refusal
        if refusal.entry is None:
            outages.confirm_reads()
        else:
            refuse(caller, refusal.entry)
        raise


def require(caller: Caller, request: requests.Request) -> None:
    """Raise as `capabilities.require` does for a caller that may not read what ``request`` names.

    Journals a refusal, and nothing else. Counts no use.
    """
    with decision(caller) as journal:
        capabilities.require(caller, request, journal.now)


def refuse(caller: Caller, entry: Entry) -> None:
    """Commit the row of a refusal.

    Beyond `MOST_ROWS` a minute, count it for one later row. Then `outages.confirm_reads` confirms what was read.
    """
    note_repeated_refusals()
    if _repeated_refusals.admits(caller, entry):
        note(caller, entry)
    else:
        outages.confirm_reads()


def note_repeated_refusals() -> None:
    """Commit a row for the refusals that were counted in each minute that has ended."""
    for caller, entry in _repeated_refusals.due() if _repeated_refusals else ():
        note(replace(caller, nonce=None), entry)  # the nonce is of an earlier request


def again_on_conflict(decide: Callable[[], Decided]) -> Decided:
    """Return what ``decide`` returns. If a unique constraint stops it, run it again: it then reads the other's row.

    A decision may meet several rows in turn, such as the leader of its work and then its own twin. After
    `MOST_CONFLICTS` of them, `IntegrityError` is raised.
    """
    for _ in range(MOST_CONFLICTS - 1):
        with suppress(IntegrityError):
            return decide()
    return decide()


def note(caller: Caller, entry: Entry) -> AuditEvent:
    """Commit one row in a transaction of its own, and return it."""
    journal = Journal(caller)
    journal.beside(entry)
    with write_turns.turn(), transaction.atomic(durable=True):
        (row,) = journal.write()
    journal.committed()
    return row
