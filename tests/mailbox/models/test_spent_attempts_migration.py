"""Receive attempts that an earlier version let clients use again, under the constraints of this version."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from importlib import import_module
from uuid import uuid4

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.migrations.loader import MigrationLoader
from django.utils import timezone

from mailbox.access.callers import Caller
from mailbox.life import leasing, results
from mailbox.models import Lease, Result
from mailbox.models.lease import LeaseQuerySet
from tests.support import factories

pytestmark = pytest.mark.django_db(transaction=True)

BEFORE, NAME = "0025_jobs_by_their_new_names", "0026_spent_receive_attempts"
SECOND = timedelta(seconds=1)


@contextmanager
def migrating() -> Iterator[None]:
    """Unapply the migration for the block, and apply it to the rows that the block leaves."""
    migration = import_module(f"mailbox.migrations.{NAME}").Migration(NAME, "mailbox")
    state = MigrationLoader(connection).project_state(("mailbox", BEFORE))
    with connection.schema_editor(atomic=True) as editor:
        migration.unapply(state.clone(), editor)
    try:
        yield
    finally:
        with connection.schema_editor(atomic=True) as editor:
            migration.apply(state.clone(), editor)


def ended_lease(alice: Caller, bob: Caller) -> Lease:
    lease = factories.leased_task(alice, bob)
    results.post_result(bob, factories.result_envelope(lease.task))
    return lease


def leases_of(rows: Sequence[Lease]) -> LeaseQuerySet:
    return Lease.objects.filter(pk__in=[row.pk for row in rows])


def test_the_newest_lease_of_an_attempt_keeps_it(alice, bob):
    attempt, other = uuid4(), uuid4()
    carol = factories.agent("carol", "a2a.respond.*")

    with migrating():
        leases = [ended_lease(alice, bob) for _ in range(3)]
        live, hers, different, unnamed = [factories.leased_task(alice, caller) for caller in (bob, carol, bob, bob)]
        beside = ended_lease(alice, bob)
        leases_of([*leases, live, hers]).update(receive_attempt_id=attempt)
        leases_of([beside]).update(receive_attempt_id=attempt, receive_index=1)
        leases_of([different]).update(receive_attempt_id=other)

    kept = Lease.objects.filter(receive_attempt_id__isnull=False)
    assert {lease.pk: lease.receive_attempt_id for lease in kept} == {
        live.pk: attempt,
        hers.pk: attempt,
        beside.pk: attempt,
        different.pk: other,
    }
    assert unnamed.pk not in {lease.pk for lease in kept}
    assert leasing.lease_tasks(bob, limit=5, attempt_id=attempt) == [live]


def test_the_newest_ended_lease_of_an_attempt_keeps_it(alice, bob):
    attempt = uuid4()
    with migrating():
        leases = [ended_lease(alice, bob) for _ in range(3)]
        Lease.objects.update(receive_attempt_id=attempt)
    factories.sent_task(alice, bob)

    assert Lease.objects.get(receive_attempt_id=attempt) == leases[-1]
    assert leasing.lease_tasks(bob, attempt_id=attempt) == []
    with pytest.raises(IntegrityError), transaction.atomic():
        Lease.objects.update(receive_attempt_id=attempt)


def test_a_result_that_may_still_be_drained_again_keeps_its_attempt(alice, bob):
    attempt, now = uuid4(), timezone.now()
    with migrating():
        drained = [factories.drained_task(alice, bob) for _ in range(4)]
        acked = [drained[0], drained[1], drained[3]]
        results.ack_results(alice, [result.task.uuid for result in acked])
        for number, result in enumerate(drained):
            Result.objects.filter(pk=result.pk).update(receive_attempt_id=attempt, delivered_at=now + SECOND * number)

    assert Result.objects.get(receive_attempt_id=attempt) == drained[2]
    assert results.drain_results(alice, attempt_id=attempt) == [drained[2]]


def test_the_last_delivered_result_of_an_acknowledged_attempt_keeps_it(alice, bob):
    attempt, now = uuid4(), timezone.now()
    with migrating():
        drained = [factories.drained_task(alice, bob) for _ in range(3)]
        results.ack_results(alice, [result.task.uuid for result in drained])
        for number, result in enumerate((drained[0], drained[2], drained[1])):
            Result.objects.filter(pk=result.pk).update(receive_attempt_id=attempt, delivered_at=now + SECOND * number)

    assert Result.objects.get(receive_attempt_id=attempt) == drained[1]
    assert results.drain_results(alice, attempt_id=attempt) == []
