"""The statements of the watch walk an index for each waiter, on tables large enough to matter."""

import re

import pytest
from django.db import connection

from mailbox.database import listed
from mailbox.database.bell import watch
from mailbox.models import Agent, Task
from tests.mailbox.test_query_plans import crowd

__all__ = ["crowd"]

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("crowd")]

CASES = [
    (watch.LEASABLE, watch._KEYS, {"task_lease_order"}),
    (watch.DRAINABLE, watch._KEYS, {"result_pending_by_sender", "task_open_by_deadline", "lease_live_by_timeout"}),
    (watch.MOVED, listed.UUIDS, {"uuid"}),
    (watch.NEXT_DUE, {}, {"task_open_by_deadline", "lease_live_by_timeout"}),
]


@pytest.mark.parametrize(
    ("sql", "slots", "indexes"), CASES, ids=["tasks to lease", "results", "changed tasks", "next due"]
)
def test_a_statement_of_the_watch_walks_its_indexes(sql, slots, indexes):
    rows = Task if slots is listed.UUIDS else Agent
    ids = list(rows.objects.values_list("uuid" if rows is Task else "pk", flat=True)[:50])
    explain = "EXPLAIN" if connection.vendor == "postgresql" else "EXPLAIN QUERY PLAN"

    plan = str(watch._rows(f"{explain} {sql}", slots, ids))

    assert {index for index in indexes if index in plan} == indexes, plan
    assert not re.search(r"Seq Scan on mailbox_\w+|SCAN (task|lease|result|mailbox_\w+)\b(?! USING)", plan), plan
