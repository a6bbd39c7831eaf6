"""The tables, held against the plain rules of `model` and against the invariants that need no model."""

from __future__ import annotations

from collections import Counter
from uuid import UUID

from mailbox.models import AuditEvent, Lease, ReplayEntry, Result, Task
from tests.mailbox.model import Model
from tests.mailbox.model_rows import Answer

RETURNED = {
    Lease.End.REQUEUE: "a2a_repair_applied",
    Lease.End.AUTO_REQUEUE: "a2a_repair_applied",
    Lease.End.RELEASE: "a2a_task_released",
}


def assert_same(model: Model) -> None:
    """Compare every table with the model, row by row."""
    kept = [task for task in model.tasks if not task.dropped]
    assert _tasks() == {
        task.id: (task.state, task.outcome, len(task.leases), task.waits_on and task.waits_on.id) for task in kept
    }
    assert _leases() == {task.id: [(lease.attempt, lease.end) for lease in task.leases] for task in kept}
    assert _results() == {task.id: _of(task.answer) for task in kept if task.answer}
    assert _journal() == {task.id: task.life for task in model.tasks}
    assert {(entry.task_kind, entry.key, entry.source_task_id) for entry in ReplayEntry.objects.all()} == {
        (work.kind, work.key, source.id) for work, source in model.cache.items()
    }
    assert ReplayEntry.objects.count() == len(model.cache)


class Watch:
    """Looks at the tables after every step, and remembers what may never change again."""

    def __init__(self) -> None:
        self._journal: list[tuple[int, str, UUID | None, int | None, str]] = []
        self._ended: dict[int, tuple[object, object]] = {}

    def assert_sound(self) -> None:
        self._the_journal_only_grows()
        self._leases_end_once()
        tasks = {task.pk: task for task in Task.objects.all()}
        _leases_are_sound(tasks)
        _results_are_sound(tasks)
        _waiters_are_sound(tasks)

    def _the_journal_only_grows(self) -> None:
        rows = list(AuditEvent.objects.order_by("pk").values_list("pk", "kind", "task_id", "seq", "data"))
        assert rows[: len(self._journal)] == self._journal
        self._journal = rows

    def _leases_end_once(self) -> None:
        ended = {lease.pk: (lease.end, lease.ended_at) for lease in Lease.objects.exclude(ended_at=None)}
        assert {pk: ended[pk] for pk in self._ended.keys() & ended.keys()} == {
            pk: end for pk, end in self._ended.items() if pk in ended
        }
        self._ended |= ended


def _leases_are_sound(tasks: dict[int, Task]) -> None:
    """One live lease exactly while in flight; attempts count up; nothing returns to the queue without its journal row."""
    leases = list(Lease.objects.order_by("task_id", "attempt"))
    live = Counter(lease.task_id for lease in leases if lease.ended_at is None)
    assert dict(live) == {pk: 1 for pk, task in tasks.items() if task.state == Task.State.IN_FLIGHT}
    for pk, task in tasks.items():
        own = [lease for lease in leases if lease.task_id == pk]
        assert [lease.attempt for lease in own] == list(range(1, task.attempt + 1))
        returns = Counter(RETURNED[Lease.End(lease.end)] for lease in own if lease.end in RETURNED)
        told = Counter(
            event.kind
            for event in AuditEvent.objects.of_task(task.uuid)
            if event.kind in RETURNED.values() and event.fields.get("action") != "force_error"
        )
        assert returns == told


def _results_are_sound(tasks: dict[int, Task]) -> None:
    """One result exactly when resolved; a replay stays between the sender and the recipient of its source."""
    results = list(Result.objects.all())
    assert sorted(result.task_id for result in results) == sorted(
        pk for pk, task in tasks.items() if task.state == Task.State.RESOLVED
    )
    parties = {event.task_id: event.fields for event in AuditEvent.objects.filter(kind="a2a_task_sent")}
    for result in results:
        own = parties[tasks[result.task_id].uuid]
        if result.replayed_from is not None:
            source = parties[result.replayed_from]
            assert (own["sender"], own["recipient"]) == (source["sender"], source["recipient"])


def _waiters_are_sound(tasks: dict[int, Task]) -> None:
    """Who waits does so on unresolved work of the same key that waits for nothing itself; a key has one such leader."""
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


def _tasks() -> dict[UUID, tuple[object, ...]]:
    return {
        task.uuid: (task.state, task.outcome, task.attempt, task.waits_on and task.waits_on.uuid)
        for task in Task.objects.select_related("waits_on")
    }


def _leases() -> dict[UUID, list[tuple[int, str | None]]]:
    found: dict[UUID, list[tuple[int, str | None]]] = {uuid: [] for uuid in Task.objects.values_list("uuid", flat=True)}
    for lease in Lease.objects.select_related("task").order_by("attempt"):
        found[lease.task.uuid].append((lease.attempt, lease.end))
    return found


def _results() -> dict[UUID, tuple[object, ...]]:
    return {
        result.task.uuid: (
            result.status,
            result.blocks[0]["text"] if result.blocks else None,
            result.error_message,
            result.posted_by is not None,
            result.replayed_from,
            result.delivery,
            result.receive_attempt_id,
        )
        for result in Result.objects.select_related("task", "posted_by")
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


def _journal() -> dict[UUID, list[str]]:
    """Return the kinds of each task's numbered rows, after checking that the numbers run from 1 without a gap."""
    lives: dict[UUID, list[str]] = {}
    for event in AuditEvent.objects.exclude(seq=None).order_by("task_id", "seq"):
        assert event.task_id is not None
        life = lives.setdefault(event.task_id, [])
        life.append(event.kind)
        assert event.seq == len(life)
    return lives
