"""Compares the tables with the rows of `model`, and checks invariants that need no model."""

from collections import Counter
from dataclasses import dataclass, field
from uuid import UUID

from mailbox.models import AuditEvent, Lease, ReplayEntry, Result, Task
from tests.support.model import Model
from tests.support.model_rows import Answer
from tests.support.tables_talk import Talk, assert_same_talk
from tests.support.views import Views

RETURNED = {
    Lease.End.REQUEUE: "a2a_repair_applied",
    Lease.End.AUTO_REQUEUE: "a2a_repair_applied",
    Lease.End.RELEASE: "a2a_task_released",
}


@dataclass(frozen=True, slots=True)
class Rows:
    """All tables of the mailbox at one moment."""

    tasks: dict[int, Task] = field(default_factory=lambda: {task.pk: task for task in Task.objects.all()})
    leases: list[Lease] = field(default_factory=lambda: list(Lease.objects.order_by("task_id", "attempt")))
    results: list[Result] = field(default_factory=lambda: list(Result.objects.all()))
    cached: list[ReplayEntry] = field(default_factory=lambda: list(ReplayEntry.objects.all()))
    journal: list[AuditEvent] = field(default_factory=lambda: list(AuditEvent.objects.order_by("pk")))
    talk: Talk = field(default_factory=Talk)


def assert_same(rows: Rows, model: Model) -> None:
    """Compare every table with the model, row by row."""
    kept = [task for task in model.tasks if not task.dropped]
    assert _tasks(rows) == {
        task.id: (
            *(task.state, task.outcome, len(task.leases), task.waits_on and task.waits_on.id),
            *(task.awaits, task.turn, task.answer is not None and task.answer.direct),
        )
        for task in kept
    }
    assert_same_talk(rows.talk, rows.tasks, kept)
    assert _leases(rows) == {task.id: [(lease.attempt, lease.end) for lease in task.leases] for task in kept}
    assert _results(rows) == {task.id: _of(task.answer) for task in kept if task.answer}
    assert _journal(rows) == {task.id: task.life for task in model.tasks}
    assert sorted((entry.task_kind, entry.key, entry.source_task_id) for entry in rows.cached) == sorted(
        (work.kind, work.key, source.id) for work, source in model.cache.items()
    )


class Watch:
    """Checks the tables after each step. It remembers rows that must never change again."""

    def __init__(self) -> None:
        self._journal: list[tuple[int, str, UUID | None, int | None, str]] = []
        self._ended: dict[int, tuple[object, object]] = {}
        self._resolved: dict[int, tuple[object, ...]] = {}
        self._views = Views()

    def assert_sound(self, rows: Rows | None = None) -> None:
        rows = rows or Rows()
        self._the_journal_only_grows(rows)
        self._leases_end_once(rows)
        _leases_are_sound(rows)
        _results_are_sound(rows)
        _waiters_are_sound(rows.tasks)
        rows.talk.assert_sound(rows.tasks, rows.leases, rows.journal)
        self._views.assert_seen_as_stored()
        self._resolved_tasks_stay_as_they_are(rows)

    def _resolved_tasks_stay_as_they_are(self, rows: Rows) -> None:
        """Check C4: a terminal state never changes, and neither does what its result says."""
        resolved = {
            result.task_id: (
                *(rows.tasks[result.task_id].state, rows.tasks[result.task_id].outcome),
                *(result.status, result.content, result.error_message),
            )
            for result in rows.results
        }
        assert {pk: resolved[pk] for pk in self._resolved.keys() & resolved.keys()} == {
            pk: end for pk, end in self._resolved.items() if pk in rows.tasks
        }
        self._resolved |= resolved

    def _the_journal_only_grows(self, rows: Rows) -> None:
        journal = [(row.pk, row.kind, row.task_id, row.seq, row.data) for row in rows.journal]
        assert journal[: len(self._journal)] == self._journal
        self._journal = journal

    def _leases_end_once(self, rows: Rows) -> None:
        ended = {lease.pk: (lease.end, lease.ended_at) for lease in rows.leases if lease.ended_at}
        assert {pk: ended[pk] for pk in self._ended.keys() & ended.keys()} == {
            pk: end for pk, end in self._ended.items() if pk in ended
        }
        self._ended |= ended


def _leases_are_sound(rows: Rows) -> None:
    """Check leases. A task has one live lease exactly while in flight, and its attempts count up from 1.

    Each return to the queue has its journal row.
    """
    live = Counter(lease.task_id for lease in rows.leases if lease.ended_at is None)
    assert dict(live) == {pk: 1 for pk, task in rows.tasks.items() if task.state == Task.State.IN_FLIGHT}
    journalled = Counter(
        (event.task_id, event.kind)
        for event in rows.journal
        if event.seq and event.kind in RETURNED.values() and event.fields.get("action") != "force_error"
    )
    for pk, task in rows.tasks.items():
        own = [lease for lease in rows.leases if lease.task_id == pk]
        assert [lease.attempt for lease in own] == list(range(1, task.attempt + 1))
        returns = Counter(RETURNED[Lease.End(lease.end)] for lease in own if lease.end in RETURNED)
        assert all(returns[kind] == journalled[task.uuid, kind] for kind in RETURNED.values())


def _results_are_sound(rows: Rows) -> None:
    """Check results. Exactly the resolved tasks have one. A replay has the sender and recipient of its source."""
    assert sorted(result.task_id for result in rows.results) == sorted(
        pk for pk, task in rows.tasks.items() if task.state == Task.State.RESOLVED
    )
    parties = {
        event.task_id: (event.fields["sender"], event.fields["recipient"])
        for event in rows.journal
        if event.kind == "a2a_task_sent"
    }
    for result in rows.results:
        if result.replayed_from is not None:
            assert parties[rows.tasks[result.task_id].uuid] == parties[result.replayed_from]


def _waiters_are_sound(tasks: dict[int, Task]) -> None:
    """Check duplicates. A waiting task waits on an unresolved task of the same key, which itself waits on no task.

    Each key has one such leader.
    """
    for task in tasks.values():
        if task.waits_on_id is not None:
            leader = tasks[task.waits_on_id]
            assert (leader.cache_key, leader.waits_on_id) == (task.cache_key, None)
            assert leader.state != Task.State.RESOLVED
    leaders = Counter(
        task.cache_key
        for task in tasks.values()
        if task.cache_key and task.state != Task.State.RESOLVED and task.waits_on_id is None
    )
    assert all(count == 1 for count in leaders.values())


def _tasks(rows: Rows) -> dict[UUID, tuple[object, ...]]:
    return {
        task.uuid: (
            *(task.state, task.outcome, task.attempt, task.waits_on_id and rows.tasks[task.waits_on_id].uuid),
            *(task.awaits, task.turn, task.is_direct),
        )
        for task in rows.tasks.values()
    }


def _leases(rows: Rows) -> dict[UUID, list[tuple[int, str | None]]]:
    found: dict[UUID, list[tuple[int, str | None]]] = {task.uuid: [] for task in rows.tasks.values()}
    for lease in rows.leases:
        found[rows.tasks[lease.task_id].uuid].append((lease.attempt, lease.end))
    return found


def _results(rows: Rows) -> dict[UUID, tuple[object, ...]]:
    return {
        rows.tasks[result.task_id].uuid: (
            result.status,
            result.blocks[0]["text"] if result.blocks else None,
            result.error_message,
            result.posted_by_id is not None,
            result.replayed_from,
            result.delivery,
            result.receive_attempt_id,
        )
        for result in rows.results
    }


def _of(answer: Answer) -> tuple[object, ...]:
    return (
        answer.status,
        answer.text,
        answer.message,
        answer.by_holder,
        answer.replayed_from,
        answer.delivery,
        answer.attempt_id,
    )


def _journal(rows: Rows) -> dict[UUID, list[str]]:
    """Return the kinds of each task's numbered rows, and check that the numbers run from 1 without a gap."""
    lives: dict[UUID, list[str]] = {}
    for event in rows.journal:
        if event.seq is not None:
            assert event.task_id is not None
            life = lives.setdefault(event.task_id, [])
            life.append(event.kind)
            assert event.seq == len(life)
    return lives
