from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
import time_machine
from django.utils import timezone

from mailbox.access.callers import Caller
from mailbox.access.own_agents import SCHEDULER
from mailbox.background import jobs
from mailbox.life import expiry, outbox, replay, results
from mailbox.models import AuditEvent, ReplayEntry, Task
from mailbox.models.replay_entry import ReplayEntryQuerySet
from mailbox.repairs import plan_execution
from mailbox.upkeep import compaction, rollups, sealing, sweep
from tests.support import factories

pytestmark = pytest.mark.django_db

STEPS = [
    (expiry, "sweep", "expire tasks"),
    (rollups, "roll", "roll up minutes"),
    (compaction, "cap_sent", "keep tasks/send under its cap"),
    (replay, "drop_expired", "drop expired replay entries"),
    (outbox, "bring_back", "bring deliveries back"),
    (sealing, "seal", "seal the journal"),
    (compaction, "tidy", "delete old rows"),
    (compaction, "compact", "compact"),
    (plan_execution, "carry_on", "go on with plans"),
]


def test_a_sweep_compacts_only_where_the_setting_says_so(alice, bob, settings):
    result = factories.drained_task(alice, bob)
    factories.sent_task(alice, bob, deadline_ms=1)
    settings.A2A_RETENTION_DELIVERED = timedelta(0)

    jobs.sweep_pass()
    kept = Task.objects.filter(pk=result.task_id).exists()
    settings.A2A_RETENTION_SWEEP = True
    jobs.sweep_pass()

    assert kept
    assert [task.outcome for task in Task.objects.all()] == ["expired"]
    assert AuditEvent.objects.get(kind="a2a_task_expired").source == "scheduler"


@pytest.mark.parametrize("jump", [7200, -7200])
def test_a_sweep_after_a_jump_of_the_wall_clock_expires_nothing(alice, bob, monkeypatch, caplog, jump):
    monotonic = 1000.0
    monkeypatch.setattr(sweep, "time", SimpleNamespace(monotonic=lambda: monotonic))
    with time_machine.travel(datetime(2040, 1, 1, tzinfo=UTC), tick=False) as now:
        jobs.sweep_pass()
        task = factories.sent_task(alice, bob)
        Task.objects.filter(pk=task.pk).update(deadline_ms=1)
        outcomes = []
        for passed, seconds in [(60, 60 + jump), (60, 60)]:
            monotonic += passed
            now.shift(seconds)
            jobs.sweep_pass()
            outcomes.append(Task.objects.get(pk=task.pk).outcome)

    assert outcomes == [None, "expired"]
    assert caplog.messages == [f"the wall clock jumped by {jump} s: this sweep expires and deletes nothing"]


def test_a_sweep_keeps_tasks_send_under_its_cap(alice, bob, settings):
    settings.A2A_TASKS_SEND_CAP = 1
    for _ in range(2):
        factories.leased_task(alice, bob, dialect="corvid", work_timeout=timedelta(seconds=1))

    with time_machine.travel(datetime(2040, 1, 1, tzinfo=UTC)):
        jobs.sweep_pass()
        kept = Task.objects.count()
        results.drain_results(alice, limit=2)
        jobs.sweep_pass()

    assert kept == 2
    assert not Task.objects.exists()
    assert [row.fields["reason"] for row in factories.journal("a2a_tasks_compacted")] == ["cap"] * 2


@pytest.mark.parametrize("broken", range(len(STEPS)))
def test_a_failed_step_of_a_sweep_is_journalled_and_the_others_run(broken, settings, monkeypatch, caplog):
    settings.A2A_RETENTION_SWEEP = True
    ran = []
    for number, (module, verb, name) in enumerate(STEPS):

        def step(*_: object, number: int = number, name: str = name, **__: object) -> None:
            ran.append(name)
            if number == broken:
                raise OSError("the disk is full")

        monkeypatch.setattr(module, verb, step)

    jobs.sweep_pass()

    name = STEPS[broken][2]
    assert ran == [step for *_, step in STEPS]
    assert f"the sweep failed to {name}" in caplog.text
    (row,) = factories.journal("a2a_sweep_failed")
    assert row.fields == {"step": name, "error": "the disk is full"}
    assert (row.actor, row.source) == (SCHEDULER, "scheduler")


def test_a_sweep_that_succeeds_is_not_journalled(caplog):
    jobs.sweep_pass()

    assert factories.journal("a2a_sweep_failed") == []
    assert caplog.text == ""


@pytest.fixture
def cached(alice, bob, settings):
    """Return the entries of three results, of which the first two may answer for an hour."""
    entries = []
    for key in ("a", "b", "c"):
        settings.A2A_REPLAY_TTL = None if key == "c" else timedelta(hours=1)
        lease = factories.leased_task(alice, bob, idempotency=factories.idempotent(key))
        results.post_result(bob, factories.result_envelope(lease.task))
        entries.append(ReplayEntry.objects.get(key=key))
    return entries


def test_a_sweep_deletes_expired_cached_results(cached):
    with time_machine.travel(timezone.now() + timedelta(hours=2)):
        jobs.sweep_pass()

    assert [entry.key for entry in ReplayEntry.objects.all()] == ["c"]
    rows = factories.journal("a2a_replay_dropped")
    assert [(row.task_id, row.seq, row.fields) for row in rows] == [
        (
            entry.source_task_id,
            None,
            {"id": entry.pk, "key": entry.key, "source_task_id": str(entry.source_task_id), "reason": "expired"},
        )
        for entry in cached[:2]
    ]


def test_a_sweep_keeps_cached_results_that_have_not_expired(cached):
    assert replay.drop_expired(Caller.command_line()) == 0
    assert ReplayEntry.objects.count() == 3


def test_a_sweep_deletes_expired_cached_results_in_batches(cached, monkeypatch):
    sizes, delete = [], ReplayEntryQuerySet.delete

    def counted(self):
        sizes.append(self.count())
        return delete(self)

    monkeypatch.setattr(ReplayEntryQuerySet, "delete", counted)

    with time_machine.travel(timezone.now() + timedelta(hours=2)):
        dropped = replay.drop_expired(Caller.command_line(), batch=1)

    assert (dropped, sizes) == (2, [1, 1])
