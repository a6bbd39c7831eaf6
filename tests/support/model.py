"""A model of the mailbox: a few rules over lists and dictionaries. `test_lifecycle` compares the verbs with it."""

from collections.abc import Collection
from datetime import datetime, timedelta
from uuid import UUID

from django.utils import timezone

from tests.support.model_rows import Answer, Lease, Refused, Task, Work


class Model:
    """All tasks ever sent, and the idempotency cache."""

    def __init__(self) -> None:
        self.tasks: list[Task] = []
        self.cache: dict[Work, Task] = {}
        self.uncached: set[Work] = set()
        self.answers = 0

    def send(self, task: Task) -> Task:
        task.story.append("sent")
        if task.work in self.cache:
            self._replay(task, self.cache[task.work])
        elif task.work is not None:
            task.wait_on(self._leader(task.work))
            if task.work in self.uncached:
                task.story.append("runs-again")
        self.tasks.append(task)
        return task

    def lease(
        self, recipient: str, limit: int, now: datetime, *, attempt_id: UUID | None = None
    ) -> list[tuple[UUID, int]]:
        mine = [task for task in self.tasks if task.recipient == recipient and not task.dropped]
        if given := [(lease.index, task, lease) for task in mine if (lease := task.lease_of(attempt_id))]:
            for _, task, lease in given:
                task.story.append("leased-again" if lease.end is None else "not-leased-again")
            given.sort(key=lambda one: one[0])
            return [(task.id, lease.attempt) for _, task, lease in given if lease.end is None]
        taken: list[tuple[UUID, int]] = []
        while len(taken) < limit and (batch := self._leasable(recipient)[: limit - len(taken)]):
            for task in batch:
                if task.is_overdue(now):
                    self._expire(task, "deadline exceeded")
                    continue
                self._begin(task, Lease(len(task.leases) + 1, now, attempt_id=attempt_id, index=len(taken)))
                taken.append((task.id, len(task.leases)))
        return taken

    def release(self, task: Task, guard: str, now: datetime) -> None:
        self._known(task)
        ended = [lease.end for lease in task.leases if lease.end is not None]
        if guard == "stale" and ended[-1:] == ["release"]:
            task.story.append("released-again")
            return
        if task.live is None or task.has_timed_out(now):
            raise Refused("not_in_flight")
        self._guarded(task, guard)
        self._return_to_queue(task, "release", "released", now)

    def requeue(self, task: Task, guard: str, risk: str, now: datetime) -> None:
        self._repairable(task, guard)
        if risk == "idempotent" and task.work is None:
            raise Refused("duplicate_risk_mismatch")
        self._return_to_queue(task, "requeue", "requeued", now)

    def force_error(self, task: Task, guard: str, message: str) -> None:
        if task.state != "interrupted" or guard != "none":
            self._repairable(task, guard)
        self._resolve(task, "error", "forced", end="force_error", message=message)

    def cancel(self, task: Task) -> None:
        self._known(task)
        if task.outcome == "cancelled":
            task.story.append("cancelled-again")
            return
        if task.state == "resolved":
            raise Refused("already_resolved")
        self._resolve(task, "cancelled", "cancelled", end="cancel", message="cancelled by the sender")

    def retry(
        self, now: datetime, *, enabled: bool, min_age: timedelta, max_attempts: int, max_requeues: int
    ) -> tuple[list[UUID], list[tuple[UUID, str]]]:
        done: list[UUID] = []
        skipped: list[tuple[UUID, str]] = []
        live = [(lease.leased_at, task.id.hex, task) for task in self.tasks if (lease := task.live)]
        for leased_at, _, task in sorted(live, key=lambda one: one[:2]):
            reasons = {
                "lease_too_young": now - leased_at < min_age,
                "missing_idempotency": task.key is None,
                "unsafe_duplicate_safety": task.safety != "idempotent",
                "max_attempts_reached": sum(lease.end != "asked" for lease in task.leases) >= max_attempts,
                "limit_reached": len(done) >= max_requeues,
            }
            reason = next((name for name, holds in reasons.items() if holds), None)
            if reason is not None:
                task.story.append(f"skipped:{reason}")
                skipped.append((task.id, reason))
                continue
            done.append(task.id)
            if not enabled:
                task.story.append("would-requeue")
            else:
                self._return_to_queue(task, "auto_requeue", "auto-requeued", now)
        return done, skipped

    def sweep(self, now: datetime, batch: int) -> int:
        ended = total = self.expire_due(self.tasks, now, batch)
        while ended >= batch:
            ended = self.expire_due(self.tasks, now, batch)
            total += ended
        return total

    def compact(self, now: datetime, keep_delivered: timedelta) -> int:
        kept = [task for task in self.tasks if not task.dropped]
        finished = [task for task in kept if task.is_finished(now, keep_delivered) and not task.is_spent_lately(now)]
        for task in finished:
            task.dropped = True
            task.story.append("compacted")
        return len(finished)

    def uncache(self, work: Work) -> UUID:
        self.uncached.add(work)
        return self.cache.pop(work).id

    def unresolved(self) -> list[Task]:
        return [task for task in self.tasks if task.state != "resolved"]

    def _leader(self, work: Work) -> Task | None:
        leaders = [task for task in self.unresolved() if task.work == work and task.waits_on is None]
        assert len(leaders) <= 1
        return leaders[0] if leaders else None

    def _leasable(self, recipient: str) -> list[Task]:
        waiting = [task for task in self.tasks if task.recipient == recipient and task.state == "queued"]
        leading = [task for task in waiting if task.waits_on is None]
        return sorted(leading, key=lambda task: (task.queued_at, task.number))

    def _known(self, task: Task) -> None:
        if task.dropped:
            raise Refused("unknown_task")

    def _guarded(self, task: Task, guard: str) -> None:
        if guard == "stale" or (guard == "live" and task.live is None):
            raise Refused("lease_mismatch")

    def _repairable(self, task: Task, guard: str) -> None:
        self._known(task)
        if task.state == "resolved":
            raise Refused("already_resolved")
        if task.live is None and (task.state != "interrupted" or guard == "none"):
            raise Refused("not_in_flight")
        self._guarded(task, guard)

    def _begin(self, task: Task, lease: Lease) -> None:
        task.state, task.awaits = "in_flight", None
        task.leases.append(lease)
        task.story.append("leased")

    def _end_lease(self, task: Task, end: str) -> None:
        if (lease := task.live) is not None:
            lease.end, lease.ended_at = end, timezone.now()

    def _return_to_queue(self, task: Task, end: str, event: str, now: datetime) -> None:
        self._end_lease(task, end)
        task.state, task.queued_at = "queued", now
        task.story.append(event)

    def _expire(self, task: Task, message: str) -> None:
        self._resolve(task, "expired", "expired", end="expired", message=message)

    def expire_due(self, tasks: Collection[Task], now: datetime, limit: int = 100) -> int:
        timed_out = [task for task in tasks if task.has_timed_out(now)][:limit]
        for task in timed_out:
            self._expire(task, "Task timed out")
        leading = [task for task in tasks if task.is_overdue(now) and task.waits_on is None][:limit]
        for task in leading:
            self._expire(task, "deadline exceeded")
        works = {task.work for task in leading if task.work}
        others = [task for task in tasks if task.is_overdue(now) and (task.waits_on or task.work in works)][:limit]
        for task in others:
            self._expire(task, "deadline exceeded")
        return len(timed_out) + len(leading) + len(others)

    def _resolve(
        self,
        task: Task,
        outcome: str,
        event: str,
        *,
        end: str,
        text: str | None = None,
        message: str | None = None,
        by_holder: bool = False,
        direct: bool = False,
    ) -> None:
        self._end_lease(task, end)
        task.story.append(event)
        self._answer(task, outcome, text=text, message=message, by_holder=by_holder, direct=direct)
        if task.work is not None:
            self._settle(task, task.work, earned=by_holder and outcome == "ok")

    def _settle(self, task: Task, work: Work, *, earned: bool) -> None:
        waiters = [waiter for waiter in self.tasks if waiter.waits_on is task]
        if earned:
            self.cache[work] = task
            waiters = [waiter for waiter in self.tasks if waiter.waits_on and waiter.work == work]
        if work in self.cache:
            for waiter in waiters:
                self._replay(waiter, self.cache[work])
        elif waiters:
            first, *others = waiters
            first.waits_on = None
            first.story.append("woken")
            for other in others:
                other.wait_on(first)

    def _replay(self, task: Task, source: Task) -> None:
        assert source.answer
        task.produced = dict(source.produced)
        task.story += ["placed"] * len(source.produced)
        task.story.append("replayed")
        if source.dropped:
            task.story.append("replayed-the-compacted")
        self._answer(task, "ok", text=source.answer.text, direct=source.answer.direct, replayed_from=source.id)

    def _answer(
        self,
        task: Task,
        outcome: str,
        *,
        text: str | None = None,
        message: str | None = None,
        by_holder: bool = False,
        direct: bool = False,
        replayed_from: UUID | None = None,
    ) -> None:
        self.answers += 1
        task.state, task.outcome, task.waits_on, task.awaits = "resolved", outcome, None, None
        task.answer = Answer(
            status=outcome if outcome in ("ok", "partial", "error") else "error",
            text=text,
            message=message,
            number=self.answers,
            by_holder=by_holder,
            direct=direct,
            replayed_from=replayed_from,
        )
