from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
import time_machine
from django.db import connection

from mailbox.access.callers import Caller, Role
from mailbox.journal import compacted_tasks
from mailbox.life import conversation, results, sending, updates
from mailbox.models import Artifact, AuditEvent, Lease, Message, ReplayEntry, Result, Task
from mailbox.upkeep import compaction
from mailbox.upkeep.compaction import Retention
from mailbox.words.conversation import ArtifactUpdate, Update, Words
from mailbox.words.errors import CapabilityMissingError, TaskConflictError, UnknownTaskError
from tests.support import factories
from tests.support.compacting import acked_task

pytestmark = pytest.mark.django_db

NOW = datetime(2035, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture(autouse=True)
def clock():
    with time_machine.travel(NOW, tick=False) as coordinates:
        yield coordinates


@pytest.fixture
def ada() -> Caller:
    return factories.person("ada", Role.ADMIN)


def test_acknowledged_work_is_dropped_with_its_leases_and_result(alice, bob, ada):
    acked_task(alice, bob)

    assert compaction.compact(ada, factories.AT_ONCE) == 1
    assert [model.objects.count() for model in (Task, Lease, Result)] == [0, 0, 0]


def test_a_finished_conversation_is_dropped_with_its_messages_and_artifacts(alice, bob, ada):
    task = factories.leased_task(alice, bob).task
    words = factories.text("x")
    updates.post_updates(bob, task.uuid, [Update(message=words), ArtifactUpdate(content=words)])
    conversation.say(alice, task.uuid, Words(content=words))
    results.post_result(bob, factories.result_envelope(task, message=words))
    results.drain_results(alice)
    results.ack_results(alice, [task.uuid])
    factories.interrupted_task(alice, bob)

    assert compaction.compact(ada, factories.AT_ONCE) == 1
    assert Artifact.objects.count() == 0
    assert [message.task.state for message in Message.objects.select_related("task")] == ["interrupted"]


def test_unfinished_and_undelivered_work_is_kept_at_any_retention(alice, bob, ada, clock):
    factories.leased_task(alice, bob)
    factories.resolved_task(alice, bob)
    factories.sent_task(alice, bob)
    clock.shift(DAY * 3650)
    before = [list(model.objects.order_by("pk").values()) for model in (Task, Lease, Result)]

    dropped = compaction.compact(ada, Retention(acked=timedelta(0), delivered=timedelta(0)))

    assert dropped == 0
    assert [list(model.objects.order_by("pk").values()) for model in (Task, Lease, Result)] == before
    assert factories.journal("a2a_tasks_compacted") == []


@pytest.mark.parametrize(("waited", "dropped"), [(DAY * 7 - timedelta(microseconds=1), 0), (DAY * 7, 1)])
def test_delivered_work_is_kept_until_its_retention_is_over(alice, bob, ada, clock, waited, dropped):
    factories.drained_task(alice, bob)
    clock.shift(waited)

    assert compaction.compact(ada, Retention(acked=timedelta(0), delivered=DAY * 7)) == dropped


@pytest.mark.parametrize(("waited", "dropped"), [(DAY - timedelta(microseconds=1), 0), (DAY, 1)])
def test_acknowledged_work_is_kept_until_its_retention_is_over(alice, bob, ada, clock, waited, dropped):
    acked_task(alice, bob)
    clock.shift(waited)

    assert compaction.compact(ada, Retention(acked=DAY)) == dropped


def test_the_retention_comes_from_the_settings(settings):
    settings.A2A_RETENTION_ACKED, settings.A2A_RETENTION_DELIVERED = DAY, DAY * 2

    assert Retention.from_settings() == Retention(acked=DAY, delivered=DAY * 2)


def test_acknowledged_work_is_kept_for_an_hour_unless_a_setting_changes_that(alice, bob, ada, clock):
    acked_task(alice, bob)
    assert Retention.from_settings() == Retention()
    clock.shift(timedelta(hours=1) - timedelta(microseconds=1))

    assert compaction.compact(ada, Retention()) == 0
    clock.shift(timedelta(microseconds=1))
    assert compaction.compact(ada, Retention()) == 1


def test_compaction_keeps_the_journal_and_the_cache(alice, bob, ada):
    lease = factories.leased_task(alice, bob, idempotency=factories.idempotent())
    results.post_result(bob, factories.result_envelope(lease.task))
    results.ack_results(alice, [lease.task.uuid])
    life = factories.life_of(lease.task)

    compaction.compact(ada, factories.AT_ONCE)

    assert not Task.objects.exists()
    assert ReplayEntry.objects.get().source_task_id == lease.task.uuid
    assert factories.life_of(lease.task) == life


def test_a_task_is_kept_while_its_replayed_result_is_pending(alice, bob, ada):
    promise = factories.idempotent()
    source = factories.leased_task(alice, bob, idempotency=promise)
    results.post_result(bob, factories.result_envelope(source.task))
    results.ack_results(alice, [source.task.uuid])
    replayed = factories.sent_task(alice, bob, idempotency=promise)

    assert compaction.compact(ada, factories.AT_ONCE) == 1
    assert Task.objects.get() == replayed
    (result,) = results.drain_results(alice)
    results.ack_results(alice, [result.task.uuid])
    assert compaction.compact(ada, factories.AT_ONCE) == 1


def test_a_compacted_task_is_unknown(alice, bob, ada):
    task = acked_task(alice, bob)
    compaction.compact(ada, factories.AT_ONCE)

    with pytest.raises(UnknownTaskError):
        sending.cancel(alice, task.uuid)


@pytest.mark.django_db(transaction=True)
def test_the_id_of_a_compacted_task_is_not_used_again(alice, bob, ada):
    task = acked_task(alice, bob)
    compaction.compact(ada, factories.AT_ONCE)
    before = factories.journal_length()

    with pytest.raises(TaskConflictError):
        factories.sent_task(alice, bob, id=task.uuid, intent_text="another task")

    assert not Task.objects.exists()
    assert factories.journal_length() == before


def test_work_is_dropped_in_batches_and_each_is_journalled(alice, bob, ada, monkeypatch):
    monkeypatch.setattr(compaction, "BATCH", 2)
    for _ in range(5):
        acked_task(alice, bob)

    assert compaction.compact(ada, factories.AT_ONCE) == 5
    rows = factories.journal("a2a_tasks_compacted")
    assert [row.fields["reason"] for row in rows] == ["retention"] * 5
    assert {row.actor for row in rows} == {"user:ada"}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("reason", ["retention", "cap", "cleared"])
def test_large_payloads_are_read_before_the_transaction(alice, bob, ada, monkeypatch, reason):
    acked_task(alice, bob, dialect="corvid")
    kept, in_a_transaction = compacted_tasks.kept, []

    def keep(*given):
        in_a_transaction.append(connection.in_atomic_block)
        return kept(*given)

    monkeypatch.setattr(compacted_tasks, "kept", keep)
    compact = {
        "retention": lambda: compaction.compact(ada, factories.AT_ONCE),
        "cap": lambda: compaction.cap_sent(ada, dialect="corvid", cap=0),
        "cleared": lambda: compaction.clear(ada, dialect="corvid"),
    }[reason]

    assert compact() == 1
    assert in_a_transaction == [False]
    assert [row.fields["reason"] for row in factories.journal("a2a_tasks_compacted")] == [reason]


def test_each_compacted_task_is_journalled_with_its_time(alice, bob, ada, clock):
    dropped, kept = acked_task(alice, bob), factories.drained_task(alice, bob).task
    clock.shift(DAY)

    compaction.compact(ada, factories.AT_ONCE)

    (row,) = AuditEvent.objects.filter(task_id=dropped.uuid, kind="a2a_tasks_compacted")
    assert (row.at, row.seq, row.fields["reason"]) == (NOW + DAY, None, "retention")
    assert not AuditEvent.objects.filter(task_id=kept.uuid, kind="a2a_tasks_compacted").exists()


def test_a_task_is_kept_while_a_task_below_it_is_kept(alice, bob, ada):
    root = acked_task(alice, bob)
    middle = acked_task(alice, bob, parent=root.uuid)
    leaf = factories.leased_task(alice, bob, parent=middle.uuid).task

    kept = compaction.compact(ada, factories.AT_ONCE)
    results.post_result(bob, factories.result_envelope(leaf))
    results.ack_results(alice, [leaf.uuid])

    assert (kept, compaction.compact(ada, factories.AT_ONCE)) == (0, 3)


def test_a_task_that_is_its_own_parent_is_dropped(alice, bob, ada):
    task_id = uuid4()
    acked_task(alice, bob, id=task_id, parent=task_id)

    assert compaction.compact(ada, factories.AT_ONCE) == 1


def test_a_child_sent_during_compaction_keeps_its_parent(alice, bob, ada, monkeypatch):
    parent = acked_task(alice, bob)
    seen = compaction._to_drop(factories.AT_ONCE, NOW)
    factories.sent_task(alice, bob, parent=parent.uuid)
    monkeypatch.setattr(compaction, "_to_drop", lambda retention, now: seen)

    assert (list(seen), compaction.compact(ada, factories.AT_ONCE)) == ([parent.pk], 0)


def test_a_compaction_without_tasks_journals_its_check_alone(ada):
    assert compaction.compact(ada, factories.AT_ONCE) == 0

    (check,) = AuditEvent.objects.all()
    assert (check.kind, check.fields["agent_id"]) == ("capability_check", "a2a:compact")


@pytest.mark.parametrize("role", [Role.OPERATOR, Role.VIEWER])
def test_only_admins_can_compact(alice, bob, role):
    acked_task(alice, bob)

    with pytest.raises(CapabilityMissingError):
        compaction.compact(factories.person("oscar", role), factories.AT_ONCE)

    assert Task.objects.count() == 1
    assert factories.last_event().fields["passed"] is False


def test_an_agent_needs_a_grant_to_compact(alice, bob):
    acked_task(alice, bob)

    with pytest.raises(CapabilityMissingError):
        compaction.compact(bob, factories.AT_ONCE)
    factories.grant(bob, "a2a.compact")

    assert compaction.compact(bob, factories.AT_ONCE) == 1
