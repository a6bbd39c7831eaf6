"""The statements of batches read every row of the large tables by an index."""

import re
from typing import Any
from uuid import UUID

import pytest
from django.db import connection

from mailbox.life.fast_path.batches import postgresql, sqlite
from mailbox.life.fast_path.sqlite import stored
from mailbox.words import json_text
from tests.support.chance import MOMENT

pytestmark = pytest.mark.django_db
on_postgresql = pytest.mark.skipif(connection.vendor != "postgresql", reason="these statements are PostgreSQL's")
on_sqlite = pytest.mark.skipif(connection.vendor != "sqlite", reason="these statements are SQLite's")

ATTEMPT = UUID(int=1)
LARGE = ("mailbox_task", "mailbox_lease", "mailbox_result")
VALUES: dict[str, Any] = {
    "holder": 1,
    "sender": 1,
    "recipient": 1,
    "now_ms": 1,
    "most": 32,
    "budget": 1000,
    "number": 2,
    "attempt_id": ATTEMPT,
    "credential": "",
    "signing_key": None,
    "at": MOMENT,
    "actor": "a",
    "actor_pubkey": None,
    "request_id": "",
    "source": "api",
    "address": "",
    "check_kind": "c",
    "posted_kind": "p",
    "acked_kind": "a",
    "change_kind": "k",
    "change_data": "{}",
    "acked_data": "{}",
    "lease_ids": [ATTEMPT],
    "acks": [ATTEMPT, UUID(int=2)],
}


@on_postgresql
@pytest.mark.parametrize("name", ["ANSWERABLE", "WORK", "DRAIN"])
def test_postgresql_reads_each_row_by_an_index(name):
    items = json_text.dumps([{"place": place, "uuid": str(ATTEMPT), "task_id": place} for place in (1, 2)])

    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")  # a table of one page would be read whole
        cursor.execute(f"EXPLAIN {postgresql.statement(name)}", {**VALUES, "items": items})
        plan = "\n".join(line for (line,) in cursor.fetchall())

    assert not re.findall(rf"Seq Scan on ({'|'.join(LARGE)})", plan), plan
    if name != "WORK":
        assert "using mailbox_task_uuid_key" in plan, plan
    if name == "DRAIN":  # no statistics let the planner begin with the tasks of the sender
        assert re.search(r"CTE Scan on timed_out .*\n *Filter: .*SubPlan", plan), plan
    if name == "ANSWERABLE":
        assert "task_by_recipient" not in plan, plan


@on_sqlite
@pytest.mark.parametrize(
    ("sql", "used"),
    [
        (sqlite.ANSWERABLE, {"(uuid=?)", "lease_one_live_per_task"}),
        (sqlite.RESOLVE, {"SEARCH mailbox_task USING INTEGER PRIMARY KEY"}),
        (sqlite.END, {"lease_one_live_per_task"}),
        (sqlite.WAITING, {"task_lease_order", "lease_receive_attempt_unique"}),
        (sqlite.TAKE, {"SEARCH mailbox_task USING INTEGER PRIMARY KEY", "task_lease_order"}),
        (sqlite.SEEN, {"result_pending_by_sender", "result_receive_attempt_unique"}),
        (sqlite.GIVE, {"SEARCH mailbox_result USING INTEGER PRIMARY KEY", "result_pending_by_sender"}),
        (sqlite.KNOWN, {"(uuid=?)"}),
        (sqlite.ACK, {"(uuid=?)", "(task_id=?)"}),
        (sqlite.NUMBER, {"SEARCH mailbox_task USING INTEGER PRIMARY KEY"}),
    ],
)
def test_sqlite_reads_each_row_by_an_index(sql, used):
    values: dict[str, Any] = {name: stored(value) for name, value in VALUES.items() if not isinstance(value, list)}
    lists: dict[str, Any] = dict.fromkeys(("given", "answered", "taken", "result", "task", "acks"), "[]")

    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {sqlite.statement(sql)}", {**values, **lists})
        plan = "\n".join(str(line[-1]) for line in cursor.fetchall())

    assert {part for part in used if part in plan} == used, plan
    assert not re.findall(rf"SCAN ({'|'.join(LARGE)}|task|lease)\b(?! USING)", plan), plan
