"""The number of statements of a batch does not depend on the number of its items."""

from collections.abc import Callable
from dataclasses import replace
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from mailbox.access.callers import Caller
from mailbox.life import batches
from mailbox.models import CapabilityGrant
from tests.support import factories

pytestmark = pytest.mark.django_db


def with_grants(caller: Caller) -> Caller:
    """Return the caller with its live grants, as the credential look-up reads both."""
    return replace(caller, grants=tuple(CapabilityGrant.objects.filter(subject=caller.agent)))


def counted(call: Callable[[], object]) -> int:
    with CaptureQueriesContext(connection) as queries:
        call()
    return len([query for query in queries if "SAVEPOINT" not in (query["sql"] or "")])


@pytest.mark.parametrize("number", [2, 32, 100])
def test_a_batch_of_any_size_takes_the_same_few_statements(alice, bob, number):
    alice, bob = with_grants(alice), with_grants(bob)
    envelopes = [factories.task_envelope(bob, id=uuid4()) for _ in range(number)]

    sending = counted(lambda: batches.send_tasks(alice, envelopes))
    leased = list(batches.lease_tasks(bob, most=number).leases)
    answers = [factories.result_envelope(lease.task, lease_id=lease.lease_id) for lease in leased]
    batches.send_tasks(alice, [replace(envelope, id=uuid4()) for envelope in envelopes])
    working = counted(lambda: batches.lease_tasks(bob, most=number, attempt_id=uuid4(), answers=answers))
    draining = counted(lambda: batches.drain_results(alice, most=number, attempt_id=uuid4()))
    acks = [answer.task_id for answer in answers]
    acknowledging = counted(lambda: batches.drain_results(alice, most=number, attempt_id=uuid4(), ack=acks))
    finding_nothing = counted(lambda: batches.drain_results(alice, most=number, attempt_id=uuid4()))

    counts = [sending, working, draining, acknowledging, finding_nothing]
    assert counts == ([2, 2, 1, 1, 1] if connection.vendor == "postgresql" else [5, 9, 4, 6, 2])
    assert len(leased) == number
