"""Each failure is filed once under the fingerprint of its error."""

from datetime import timedelta

import pytest
from django.utils import timezone

from mailbox.access.callers import Caller
from mailbox.background import jobs
from mailbox.life import results, sending
from mailbox.models import Failure, Result, RollUpTurn, Task
from mailbox.upkeep import compaction, failure_filing, rollups
from mailbox.words.envelopes import ResultStatus
from tests.support import factories

pytestmark = pytest.mark.django_db

LATER = timedelta(minutes=10)


def failed(alice, bob, message="no"):
    return factories.resolved_task(alice, bob, status=ResultStatus.ERROR, error_message=message, content=[])


def test_failures_of_one_cause_get_one_fingerprint(alice, bob):
    failed(alice, bob, "timeout after 30 s at https://a.example/x?id=7")
    failed(alice, bob, "timeout after 45 s at https://b.example/y")
    failed(alice, bob, "disk full")
    failed(alice, bob, None)
    factories.resolved_task(alice, bob)

    assert failure_filing.file_failures() == 4
    prints = list(Failure.objects.order_by("pk").values_list("fingerprint", flat=True))
    assert prints[0] == prints[1]
    assert len(set(prints)) == 3


def test_another_outcome_and_another_agent_are_other_groups(alice, bob):
    task = factories.sent_task(alice, bob)
    sending.cancel(alice, task.uuid)
    lease = factories.leased_task(alice, bob)
    results.post_result(
        bob,
        factories.result_envelope(
            lease.task, status=ResultStatus.ERROR, error_message="cancelled by the sender", content=[]
        ),
    )
    failure_filing.file_failures()

    assert set(Failure.objects.values_list("outcome", flat=True)) == {"cancelled", "error"}
    assert Failure.objects.values("fingerprint").distinct().count() == 2


def test_a_failure_is_filed_once_however_often_the_pass_runs(alice, bob):
    failed(alice, bob)

    assert [failure_filing.file_failures(), failure_filing.file_failures()] == [1, 0]
    assert failure_filing.file_failures(timezone.now() + LATER) == 0
    assert RollUpTurn.read().filed_to == Result.objects.get().pk
    failed(alice, bob)
    assert failure_filing.file_failures(timezone.now() + LATER) == 1


def test_a_result_that_became_visible_late_is_filed_too(alice, bob):
    late, early = failed(alice, bob), failed(alice, bob)
    Failure.objects.all().delete()
    Result.objects.filter(pk=early.pk).update(status="ok")
    failure_filing.file_failures()
    assert RollUpTurn.read().filed_to < late.pk

    Result.objects.filter(pk=early.pk).update(status="error")

    assert failure_filing.file_failures() == 1


def test_many_old_failures_are_filed_in_bounded_passes(alice, bob, monkeypatch):
    monkeypatch.setattr(failure_filing, "BATCH", 2)
    monkeypatch.setattr(failure_filing, "MOST", 4)
    for _ in range(7):
        failed(alice, bob)
    later = timezone.now() + LATER

    assert [failure_filing.file_failures(later) for _ in range(3)] == [4, 3, 0]


def test_young_failures_beyond_one_batch_are_filed_by_one_pass(alice, bob, monkeypatch):
    monkeypatch.setattr(failure_filing, "BATCH", 2)
    for _ in range(5):
        failed(alice, bob)

    assert failure_filing.file_failures() == 5
    assert RollUpTurn.read().filed_to == 0


def test_the_sweep_files_and_a_roll_up_keeps_the_mark(alice, bob):
    failed(alice, bob)
    failure_filing.file_failures(timezone.now() + LATER)
    mark = RollUpTurn.read().filed_to

    rollups.roll(timezone.now() + LATER)
    failed(alice, bob)
    jobs.sweep_pass()

    assert RollUpTurn.read().filed_to == mark > 0
    assert Failure.objects.count() == 2


def test_compaction_deletes_the_file_of_a_task(alice, bob):
    failed(alice, bob)
    failure_filing.file_failures()
    (result,) = results.drain_results(alice)
    results.ack_results(alice, [result.task.uuid])

    compaction.compact(Caller.command_line(), factories.AT_ONCE)

    assert not Task.objects.exists()
    assert not Failure.objects.exists()
