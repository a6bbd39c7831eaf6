"""The rules of the stateful test. Each rule acts on the mailbox through a verb, and on the model."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connections
from django.utils import timezone
from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule

from mailbox.access.callers import Caller
from mailbox.life import expiry, leasing, replay, results, sending
from mailbox.models import ReplayEntry
from mailbox.repairs import repair, retry
from mailbox.repairs.repair import DuplicateRisk
from mailbox.repairs.retry import RetryPolicy
from mailbox.upkeep import compaction
from mailbox.upkeep.compaction import Retention
from mailbox.words.envelopes import ResultStatus, TaskEnvelope
from mailbox.words.errors import TaskConflictError, UnknownTaskError
from tests.support import factories
from tests.support.answering import Answering
from tests.support.model_answers import Given
from tests.support.wanted import RECIPIENTS, SENDERS, WANTED, Pick, Wanted, picks

MINUTE = timedelta(minutes=1)
NAMES = st.sampled_from([None, "new", "old", "old"])
GUARDS = st.sampled_from(["none", "live", "live", "stale"])


class Lifecycle(Answering):
    @initialize(wanted=st.lists(WANTED, min_size=2, max_size=5), limit=st.integers(0, 3))
    def begin_with_some(self, wanted: list[Wanted], limit: int) -> None:
        for one in wanted:
            self.send(one)
        if limit:
            self.lease("bob", limit)

    @rule(wanted=WANTED)
    def send(self, wanted: Wanted) -> None:
        task = wanted.task(self.new_id(), number=len(self.model.tasks), now=timezone.now())
        self.envelopes[task.id] = wanted.envelope(task, factories.ref(self.cast[task.recipient]))
        sending.send_task(self.cast[task.sender], self.envelopes[task.id])
        self.model.send(task)

    @rule(pick=picks("unresolved"))
    def send_a_duplicate(self, pick: Pick) -> None:
        task = self.picked(pick)
        self.send(Wanted(task.sender, task.recipient, task.safety, task.key, task.kind, None, None))

    @rule(recipient=st.sampled_from(RECIPIENTS), limit=st.integers(1, 3), name=NAMES)
    def lease(self, recipient: str, limit: int, name: str | None = None) -> None:
        attempt_id = self.attempt_id(recipient, name)
        expected = self.model.lease(recipient, limit, timezone.now(), attempt_id=attempt_id)

        taken = leasing.lease_tasks(self.cast[recipient], limit=limit, attempt_id=attempt_id)

        assert [(lease.task.uuid, lease.attempt) for lease in taken] == expected

    @rule(
        pick=picks("running"),
        status=st.sampled_from([*[ResultStatus.OK] * 3, ResultStatus.PARTIAL, ResultStatus.ERROR]),
        text=st.sampled_from("aaab"),
        guard=GUARDS,
    )
    def post_result(self, pick: Pick, status: ResultStatus, text: str, guard: str) -> None:
        self.post(pick, Given(status, text), guard, "post")

    @rule(pick=picks("running"), guard=GUARDS)
    def release(self, pick: Pick, guard: str) -> None:
        task = self.picked(pick)
        self.agree(
            lambda: self.model.release(task, guard, timezone.now()),
            lambda: leasing.release(
                self.cast[task.recipient], task.id, reason="later", lease_id=self.lease_id(task, guard)
            ),
            of=(task, "release"),
        )

    @rule(pick=picks("running"), guard=GUARDS, risk=st.sampled_from(DuplicateRisk))
    def requeue(self, pick: Pick, guard: str, risk: DuplicateRisk) -> None:
        task = self.picked(pick)
        self.agree(
            lambda: self.model.requeue(task, guard, risk, timezone.now()),
            lambda: repair.requeue(
                self.olga, task.id, reason="stuck", duplicate_risk=risk, lease_id=self.lease_id(task, guard)
            ),
            of=(task, "requeue"),
            refused="a2a_repair_refused",
        )

    @rule(pick=picks("running"), guard=GUARDS)
    def force_error(self, pick: Pick, guard: str) -> None:
        task = self.picked(pick)
        self.agree(
            lambda: self.model.force_error(task, guard, "gave up"),
            lambda: repair.force_error(
                self.olga, task.id, reason="stuck", message="gave up", lease_id=self.lease_id(task, guard)
            ),
            of=(task, "force"),
            refused="a2a_repair_refused",
        )

    @rule(pick=picks("unresolved"))
    def cancel(self, pick: Pick) -> None:
        task = self.picked(pick)
        self.agree(lambda: self.model.cancel(task), lambda: sending.cancel(self.cast[task.sender], task.id))

    @rule(enabled=st.booleans(), max_attempts=st.integers(1, 3), max_requeues=st.integers(0, 2))
    def retry_scan(self, enabled: bool, max_attempts: int, max_requeues: int) -> None:
        bounds = {"max_attempts": max_attempts, "max_requeues": max_requeues}
        done, skipped = self.model.retry(timezone.now(), enabled=enabled, min_age=MINUTE, **bounds)

        report = retry.retry_stale(self.olga, RetryPolicy(enabled=enabled, min_lease_age=MINUTE, **bounds))

        assert [lease.task.uuid for lease in report.requeued] == (done if enabled else [])
        assert [lease.task.uuid for lease in report.would_requeue] == ([] if enabled else done)
        assert [(skip.lease.task.uuid, str(skip.reason)) for skip in report.skipped] == skipped
        assert report.considered == len(done) + len(skipped)

    @rule(sender=st.sampled_from(SENDERS), limit=st.integers(1, 3), name=NAMES)
    def drain(self, sender: str, limit: int, name: str | None) -> None:
        self.drain_as(sender, limit, attempt_id=self.attempt_id(sender, name))

    @rule(pick=picks("answered"), limit=st.integers(1, 3))
    def drain_acknowledging(self, pick: Pick, limit: int) -> None:
        task = self.picked(pick)
        self.drain_as(task.sender, limit, ack=(task,))

    @rule(pick=picks("answered"))
    def acknowledge(self, pick: Pick) -> None:
        task = self.picked(pick)
        self.agree(
            lambda: self.model.acknowledge(task.sender, [task], timezone.now()),
            lambda: results.ack_results(self.cast[task.sender], [task.id]),
        )

    @rule(delta=st.sampled_from([timedelta(milliseconds=1), MINUTE, MINUTE * 2, MINUTE * 10]))
    def wait(self, delta: timedelta) -> None:
        self.clock.shift(delta)

    @rule()
    def sweep(self) -> None:
        assert self.model.sweep(timezone.now(), 2) == expiry.sweep(Caller.command_line(), batch=2)

    @rule()
    def compact(self) -> None:
        dropped = self.model.compact(timezone.now(), MINUTE)

        assert compaction.compact(self.ada, Retention(acked=timedelta(0), delivered=MINUTE)) == dropped

    @rule(pick=picks("safe"), way=st.sampled_from(["requeue", "retry", "release"]), again=st.booleans())
    def a_holder_comes_back_late(self, pick: Pick, way: str, again: bool) -> None:
        """Post a result under an ended lease. ``again``: another holder has leased the task before, and resolves it."""
        this, recipient = self.itself(pick), self.picked(pick).recipient
        match way:
            case "requeue":
                self.requeue(this, "live", DuplicateRisk.OPERATOR_ACCEPTED)
            case "retry":
                self.wait(MINUTE)
                self.retry_scan(enabled=True, max_attempts=3, max_requeues=9)
            case "release":
                self.release(this, "live")
        if again:
            self.lease(recipient, 3)
            self.post_result(this, ResultStatus.OK, "b", "stale")
            self.requeue(this, "stale", DuplicateRisk.OPERATOR_ACCEPTED)
            self.force_error(this, "stale")
        self.release(this, "stale")
        self.post_result(this, ResultStatus.OK, "a", "live" if again else "none")

    @rule(
        wanted=WANTED,
        key=st.sampled_from("jklmnop"),
        end=st.sampled_from(["ok", "error", "cancel", "force_error"]),
    )
    def duplicates_learn_how_the_first_one_ended(self, wanted: Wanted, key: str, end: str) -> None:
        for _ in range(3):
            self.send(wanted._replace(safety="idempotent", key=key, deadline=None))
        leader = self.model.tasks[-1].waits_on
        if leader is None:
            return  # the cache has answered all three
        self.lease(leader.recipient, 3)
        self.reopen()
        this, second = ("any", leader.number), ("any", len(self.model.tasks) - 2)
        match end:
            case "cancel":
                self.cancel(this)
                self.cancel(this)
            case "force_error":
                self.force_error(this, "none")
            case _:
                self.post_result(this, ResultStatus(end), "a", "none")
        self.post_result(this, ResultStatus.OK, "b", "none")
        self.lease(leader.recipient, 3)
        self.post_result(second, ResultStatus.OK, "a", "none")

    @rule(pick=picks("answered"), acknowledged=st.booleans(), forgotten=st.booleans())
    def a_result_goes_all_its_way(self, pick: Pick, acknowledged: bool, forgotten: bool) -> None:
        this, task = self.itself(pick), self.picked(pick)
        self.drain(task.sender, 3, "new")
        self.reopen()
        self.drain(task.sender, 3, "old")
        if acknowledged:
            self.acknowledge(this)
            self.acknowledge(this)
            self.drain(task.sender, 3, "old")
        self.wait(MINUTE)
        self.compact()
        self.wait(MINUTE * 10)
        self.compact()
        self.acknowledge(this)
        self.post_result(this, ResultStatus.OK, "a", "none")
        self.post_result(this, ResultStatus.OK, "b", "none")
        if forgotten:
            self.drop_a_cached_result(0)
        self.send(Wanted(task.sender, task.recipient, task.safety, task.key, task.kind, None, None))

    @rule(number=st.integers(0, 3))
    def drop_a_cached_result(self, number: int) -> None:
        cached = sorted(self.model.cache)[number : number + 1]
        for work in cached:
            source_id = self.model.uncache(work)
            replay.drop(self.olga, ReplayEntry.objects.get(source_task_id=source_id).pk, reason="stale")

    @rule(pick=picks("any"), sender=st.sampled_from(SENDERS))
    def repeat_a_send_and_clash_with_it(self, pick: Pick, sender: str) -> None:
        task = self.picked(pick)
        other = TaskEnvelope(id=task.id, recipient=factories.ref(self.cast[task.recipient]), intent_text="other")

        if not task.dropped:
            self.model.expire_due([task], timezone.now())
        repeated = sending.send_task(self.cast[task.sender], self.envelopes[task.id])
        assert (repeated.uuid, repeated.state, repeated.outcome) == (task.id, task.state, task.outcome)
        with pytest.raises(TaskConflictError):
            sending.send_task(self.cast[sender], other)

    @rule(pick=picks("any"))
    def a_stranger_tries_everything(self, pick: Pick) -> None:
        task_id, risk = self.picked(pick).id, DuplicateRisk.OPERATOR_ACCEPTED
        attempts: list[Callable[[], object]] = [
            lambda: results.post_result(self.mallory, factories.result_envelope(task_id)),
            lambda: results.ack_results(self.mallory, [task_id]),
            lambda: sending.cancel(self.mallory, task_id),
            lambda: leasing.release(self.mallory, task_id, reason="x"),
            lambda: repair.requeue(self.mallory, task_id, reason="x", duplicate_risk=risk),
        ]
        for attempt in attempts:
            with pytest.raises(UnknownTaskError):
                attempt()
        assert leasing.lease_tasks(self.mallory) == []
        assert results.drain_results(self.mallory) == []

    @rule()
    def reopen(self) -> None:
        for task in self.model.tasks:
            task.story.append("reopened")
        connections.close_all()
