"""The verbs on the tables of a later version, which has added columns."""

import pytest
from django.db import connection

from mailbox.life import results
from mailbox.models import AuditEvent, Lease, Result, Task
from tests.support import factories

pytestmark = pytest.mark.django_db(transaction=True)
TABLES = [model._meta.db_table for model in (Task, Lease, Result, AuditEvent)]


@pytest.fixture
def newer():
    """Add a column to each table of the life of a task, as the rule for migrations allows it."""
    with connection.cursor() as cursor:
        for table in TABLES:
            cursor.execute(f"ALTER TABLE {table} ADD COLUMN later integer NOT NULL DEFAULT 7")
    connection.close()
    yield
    with connection.cursor() as cursor:
        for table in TABLES:
            cursor.execute(f"ALTER TABLE {table} DROP COLUMN later")
    connection.close()


@pytest.mark.usefixtures("newer")
@pytest.mark.parametrize("is_plain", [True, False])
def test_a_task_lives_from_its_send_to_its_drain(alice, bob, is_plain):
    fields = {} if is_plain else {"idempotency": factories.idempotent("once")}

    lease = factories.leased_task(alice, bob, **fields)
    results.post_result(bob, factories.result_envelope(lease.task, lease_id=lease.lease_id))
    (result,) = results.drain_results(alice)

    assert result.task.uuid == lease.task.uuid
    assert len(factories.life_of(lease.task)) == 4
