"""An acknowledgement is idempotent for ever: the journal remembers results that were received and then compacted."""

from datetime import timedelta
from functools import partial
from uuid import UUID, uuid4

import pytest

from mailbox.access.callers import Caller, Role
from mailbox.life import results
from mailbox.models import Result, Task
from mailbox.upkeep import compaction
from mailbox.upkeep.compaction import Retention
from mailbox.words.errors import UnknownTaskError
from tests.support import factories
from tests.support.races import ROUNDS, race

EVERYTHING = Retention(acked=timedelta(0), delivered=timedelta(0))


@pytest.fixture
def compacted(alice: Caller, bob: Caller) -> UUID:
    """A task whose result alice acknowledged, and which was compacted since."""
    return acked_and_compacted(alice, bob)


def acked_and_compacted(sender: Caller, recipient: Caller) -> UUID:
    task = factories.drained_task(sender, recipient).task
    results.ack_results(sender, [task.uuid])
    assert compaction.compact(Caller.command_line(), factories.AT_ONCE) == 1
    return task.uuid


@pytest.mark.django_db
def test_the_result_of_a_compacted_task_is_acknowledged_again(alice, compacted):
    rows = factories.journal_length()

    done = results.ack_results(alice, [compacted])

    assert (done.acked, done.unknown) == ([compacted], [])
    assert factories.journal_length() == rows


@pytest.mark.django_db
def test_a_compacted_task_keeps_no_result_from_being_acked(alice, bob, compacted):
    drained, absent = factories.drained_task(alice, bob), uuid4()

    done = results.ack_results(alice, [compacted, absent, drained.task.uuid])

    assert (done.acked, done.unknown) == ([compacted, drained.task.uuid], [absent])
    assert Result.objects.get().delivery == Result.Delivery.ACKED


@pytest.mark.django_db
def test_a_result_that_was_compacted_after_its_delivery_counts_as_acknowledged(alice, bob):
    task_id = factories.drained_task(alice, bob).task.uuid
    compaction.compact(Caller.command_line(), EVERYTHING)

    assert results.ack_results(alice, [task_id]).acked == [task_id]


@pytest.mark.django_db
def test_a_result_that_was_deleted_before_its_delivery_is_unknown(alice, bob):
    lease = factories.leased_task(alice, bob, dialect="corvid")
    results.post_result(bob, factories.result_envelope(lease.task))
    compaction.clear(Caller.command_line(), dialect="corvid")

    with pytest.raises(UnknownTaskError):
        results.ack_results(alice, [lease.task.uuid])


@pytest.mark.django_db
def test_a_drain_that_acknowledges_a_compacted_task_can_be_repeated(alice, bob):
    first, second = factories.resolved_task(alice, bob).task, factories.resolved_task(alice, bob)
    results.drain_results(alice)
    attempt_id = uuid4()
    drained = results.drain_results(alice, attempt_id=attempt_id, ack=[first.uuid])
    compaction.compact(Caller.command_line(), factories.AT_ONCE)

    again = results.drain_results(alice, attempt_id=attempt_id, ack=[first.uuid])

    assert [second] == drained == again
    assert list(Task.objects.all()) == [second.task]


@pytest.mark.django_db
def test_a_compacted_task_is_unknown_to_all_but_its_sender(alice, bob, mallory, compacted):
    factories.grant(mallory, "a2a.send.*")
    factories.grant(bob, "a2a.respond.*")
    absent = uuid4()
    for other in (bob, mallory):
        for task_ids in ([compacted], [compacted, absent]):
            with pytest.raises(UnknownTaskError) as refusal:
                results.ack_results(other, task_ids)
            assert refusal.value.message == f"no task {compacted} is known to you"
        with pytest.raises(UnknownTaskError):
            results.drain_results(other, ack=[compacted])
    own = factories.drained_task(mallory, bob).task.uuid

    done = results.ack_results(mallory, [compacted, own, absent])

    assert (done.acked, done.unknown) == ([own], [compacted, absent])


@pytest.mark.django_db
def test_code_of_this_process_acknowledges_for_every_sender(compacted):
    assert results.ack_results(Caller.local(), [compacted]).acked == [compacted]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("_round", ROUNDS)
def test_repeated_acknowledgements_against_a_compaction(alice, bob, _round):
    drained = [factories.drained_task(alice, bob).task.uuid for _ in range(4)]
    results.ack_results(alice, drained[:2])
    pending = factories.resolved_task(alice, bob)
    ada = factories.person("ada", Role.ADMIN)

    compacted, acked, first, second = race(
        partial(compaction.compact, ada, EVERYTHING),
        partial(results.ack_results, alice, [*drained, uuid4()]),
        partial(results.drain_results, alice, ack=drained),
        partial(results.drain_results, alice, ack=drained[::-1]),
    )

    assert (compacted.refusal, acked.value.acked) == (None, drained)
    assert sorted([*first.value, *second.value], key=lambda result: result.pk) == [pending]
