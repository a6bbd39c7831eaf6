"""Whatever is done to the mailbox, in whatever order, the tables say what a few plain rules say."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid4, uuid5

import hypothesis
import pytest
import time_machine
from django.core.management.color import no_style
from django.core.management.sql import sql_flush
from django.db import connection, connections
from django.utils import timezone
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from mailbox import compaction, delivery, expiry, leasing, repair, replay, results, retry
from mailbox.callers import Caller, Role
from mailbox.compaction import Retention
from mailbox.envelopes import ResultStatus, TaskEnvelope
from mailbox.errors import MailboxError, TaskConflictError, UnknownTaskError
from mailbox.models import Lease, ReplayEntry
from mailbox.repair import DuplicateRisk
from mailbox.retry import RetryPolicy
from tests import factories
from tests.mailbox import tables
from tests.mailbox.model import Model
from tests.mailbox.model_rows import Refused, Task
from tests.mailbox.wanted import RECIPIENTS, SENDERS, WANTED, Pick, Wanted, picks

START = datetime(2035, 1, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


GUARDS = st.sampled_from(["none", "live", "live", "stale"])
SIZE = hypothesis.settings(max_examples=max(40, hypothesis.settings.default.max_examples))  # type: ignore[union-attr]


@pytest.mark.django_db(transaction=True)
def test_the_tables_say_what_the_rules_say():
    run_state_machine_as_test(Lifecycle, settings=SIZE)


class Lifecycle(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.travelling = time_machine.travel(START, tick=False)
        self.clock = self.travelling.start()
        self.model = Model()
        self.cast: dict[str, Caller] = {name: factories.agent(name, "a2a.send.*") for name in SENDERS}
        self.cast |= {name: factories.agent(name, "a2a.respond.*") for name in RECIPIENTS}
        self.mallory = factories.agent("mallory", "a2a.send.*", "a2a.respond.*", "a2a.repair.requeue")
        self.olga, self.ada = factories.person("olga", Role.OPERATOR), factories.person("ada", Role.ADMIN)
        self.envelopes: dict[UUID, TaskEnvelope] = {}
        self.named = 0
        self.drains: dict[str, UUID] = {}
        self.watch = tables.Watch()

    def teardown(self) -> None:
        self.travelling.stop()
        connection.ops.execute_sql_flush(sql_flush(no_style(), connection))

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
        delivery.send_task(self.cast[task.sender], self.envelopes[task.id])
        self.model.send(task)

    @rule(pick=picks("unresolved"))
    def send_a_duplicate(self, pick: Pick) -> None:
        task = self.picked(pick)
        self.send(Wanted(task.sender, task.recipient, task.safety, task.key, task.kind, None, None))

    @rule(recipient=st.sampled_from(RECIPIENTS), limit=st.integers(1, 3))
    def lease(self, recipient: str, limit: int) -> None:
        expected = self.model.lease(recipient, limit, timezone.now())

        taken = leasing.lease_tasks(self.cast[recipient], limit=limit)

        assert [(lease.task.uuid, lease.attempt) for lease in taken] == expected

    @rule(
        pick=picks("running"),
        status=st.sampled_from([*[ResultStatus.OK] * 3, *ResultStatus]),
        text=st.sampled_from("aaab"),
        guard=GUARDS,
    )
    def post_result(self, pick: Pick, status: ResultStatus, text: str, guard: str) -> None:
        task = self.picked(pick)
        blocks = [{"type": "text", "text": text}]
        envelope = factories.result_envelope(
            task.id, status=status, content=blocks, lease_id=self.lease_id(task, guard)
        )

        self.agree(
            lambda: self.model.post(task, status, text, guard, timezone.now()),
            lambda: results.post_result(self.cast[task.recipient], envelope),
        )

    @rule(pick=picks("running"), guard=GUARDS)
    def release(self, pick: Pick, guard: str) -> None:
        task = self.picked(pick)
        self.agree(
            lambda: self.model.release(task, guard, timezone.now()),
            lambda: leasing.release(
                self.cast[task.recipient], task.id, reason="later", lease_id=self.lease_id(task, guard)
            ),
        )

    @rule(pick=picks("running"), guard=GUARDS, risk=st.sampled_from(DuplicateRisk))
    def requeue(self, pick: Pick, guard: str, risk: DuplicateRisk) -> None:
        task = self.picked(pick)
        self.agree(
            lambda: self.model.requeue(task, guard, risk, timezone.now()),
            lambda: repair.requeue(
                self.olga, task.id, reason="stuck", duplicate_risk=risk, lease_id=self.lease_id(task, guard)
            ),
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
            refused="a2a_repair_refused",
        )

    @rule(pick=picks("unresolved"))
    def cancel(self, pick: Pick) -> None:
        task = self.picked(pick)
        self.agree(lambda: self.model.cancel(task), lambda: delivery.cancel(self.cast[task.sender], task.id))

    @rule(enabled=st.booleans(), max_attempts=st.integers(1, 3), max_requeues=st.integers(0, 2))
    def retry_scan(self, enabled: bool, max_attempts: int, max_requeues: int) -> None:
        bounds = {"max_attempts": max_attempts, "max_requeues": max_requeues}
        done, skipped = self.model.retry(timezone.now(), enabled=enabled, min_age=MINUTE, **bounds)

        report = retry.retry_stale(self.olga, RetryPolicy(enabled=enabled, min_lease_age=MINUTE, **bounds))

        assert [lease.task.uuid for lease in report.requeued] == (done if enabled else [])
        assert [lease.task.uuid for lease in report.would_requeue] == ([] if enabled else done)
        assert [(skip.lease.task.uuid, str(skip.reason)) for skip in report.skipped] == skipped
        assert report.considered == len(done) + len(skipped)

    @rule(sender=st.sampled_from(SENDERS), limit=st.integers(1, 3), name=st.sampled_from([None, "new", "old", "old"]))
    def drain(self, sender: str, limit: int, name: str | None) -> None:
        if name == "new" or (name == "old" and sender not in self.drains):
            self.drains[sender] = self.new_id()
        self.drain_as(sender, limit, attempt_id=self.drains[sender] if name else None)

    @rule(pick=picks("answered"))
    def drain_acknowledging(self, pick: Pick) -> None:
        task = self.picked(pick)
        self.drain_as(task.sender, 1, ack=(task,))

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

        assert compaction.compact(self.ada, Retention(delivered=MINUTE)) == dropped

    @rule(number=st.integers(0, 3))
    def drop_a_cached_result(self, number: int) -> None:
        cached = sorted(self.model.cache)[number : number + 1]
        for work in cached:
            source = self.model.cache.pop(work)
            replay.drop(self.olga, ReplayEntry.objects.get(source_task_id=source.id).pk, reason="stale")

    @rule(pick=picks("any"), sender=st.sampled_from(SENDERS))
    def repeat_a_send_and_clash_with_it(self, pick: Pick, sender: str) -> None:
        task = self.picked(pick)
        other = TaskEnvelope(id=task.id, recipient=factories.ref(self.cast[task.recipient]), intent_text="other")

        if not task.dropped:
            assert delivery.send_task(self.cast[task.sender], self.envelopes[task.id]).uuid == task.id
        for caller, envelope in [(sender, other), *([(task.sender, self.envelopes[task.id])] if task.dropped else [])]:
            with pytest.raises(TaskConflictError):
                delivery.send_task(self.cast[caller], envelope)

    @rule(pick=picks("any"))
    def a_stranger_tries_everything(self, pick: Pick) -> None:
        task_id, risk = self.picked(pick).id, DuplicateRisk.OPERATOR_ACCEPTED
        attempts: list[Callable[[], object]] = [
            lambda: results.post_result(self.mallory, factories.result_envelope(task_id)),
            lambda: results.ack_results(self.mallory, [task_id]),
            lambda: delivery.cancel(self.mallory, task_id),
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
        connections.close_all()

    @invariant()
    def the_tables_agree(self) -> None:
        tables.assert_same(self.model)

    @invariant()
    def the_tables_are_sound(self) -> None:
        self.watch.assert_sound()

    def drain_as(self, sender: str, limit: int, *, attempt_id: UUID | None = None, ack: tuple[Task, ...] = ()) -> None:
        expected, drained = self.agree(
            lambda: self.model.drain(sender, limit, timezone.now(), attempt_id=attempt_id, ack=ack),
            lambda: results.drain_results(
                self.cast[sender], limit=limit, attempt_id=attempt_id, ack=[task.id for task in ack]
            ),
        )
        assert [result.task.uuid for result in drained or []] == (expected or [])

    def agree(
        self, rules: Callable[[], Any], verb: Callable[[], Any], *, refused: str | None = None
    ) -> tuple[Any, Any]:
        """Do it by the rules and by the verb: either both do it, or both refuse with the same code."""
        before = len(factories.journal(refused)) if refused else 0
        expected, code = self.ask(rules)
        if code is None:
            return expected, verb()
        with pytest.raises(MailboxError) as refusal:
            verb()
        assert refusal.value.code == code
        assert refused is None or len(factories.journal(refused)) == before + 1
        return None, None

    def ask(self, rules: Callable[[], Any]) -> tuple[Any, str | None]:
        try:
            return rules(), None
        except Refused as refusal:
            return None, refusal.code

    def picked(self, pick: Pick) -> Task:
        """Return one of the tasks that ``pick`` speaks of; any one where there is none such."""
        which, number = pick
        tasks = self.model.tasks
        found = {
            "any": tasks,
            "running": [task for task in tasks if task.live],
            "unresolved": self.model.unresolved(),
            "answered": [task for task in tasks if task.answer and not task.dropped],
        }[which]
        return (found or tasks)[number % len(found or tasks)]

    def lease_id(self, task: Task, guard: str) -> UUID | None:
        """Return the id that a caller who says ``guard`` would present; an invented one where there is none."""
        if guard == "none":
            return None
        ended = guard == "stale"
        known = Lease.objects.filter(task__uuid=task.id, ended_at__isnull=not ended).order_by("-attempt").first()
        return known.lease_id if known else uuid4()

    def new_id(self) -> UUID:
        self.named += 1
        return uuid5(NAMESPACE_URL, str(self.named))
