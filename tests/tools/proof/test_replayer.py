"""The replay of a task's journal leads to its state, and names each row that contradicts those before it."""

import itertools
import json
from typing import Any

import pytest

from tools.proof.replayer import Life, replayed
from tools.proof.rows import Row

pytestmark = pytest.mark.one_database

Step = tuple[str, dict[str, Any]]

SENT: Step = ("a2a_task_sent", {"sender": "s@proof", "recipient": "w@proof"})
LEASED: Step = ("a2a_task_leased", {"lease_id": "L1", "attempt": 1, "holder": "w@proof"})
AGAIN: Step = ("a2a_task_leased", {"lease_id": "L2", "attempt": 2, "holder": "w@proof"})
RELEASED: Step = ("a2a_task_released", {"lease_id": "L1", "attempt": 1, "reason": "r"})
POSTED: Step = ("a2a_result_posted", {"status": "ok", "lease_id": "L1", "attempt": 1, "late_result": False})
LATE: Step = ("a2a_result_posted", {"status": "ok", "lease_id": None, "attempt": 1, "late_result": True})
REPLAYED: Step = ("a2a_result_replayed", {"source_task_id": "T0", "status": "ok"})
REQUEUED: Step = ("a2a_repair_applied", {"action": "requeue", "lease_id": None})
FORCED: Step = ("a2a_repair_applied", {"action": "force_error", "lease_id": "L1"})
ERASED: Step = ("a2a_task_released", {"erased": "0" * 64, "by": 7})  # a release whose data was erased
CANCELLED: Step = ("a2a_task_cancelled", {"reason": ""})
EXPIRED: Step = ("a2a_task_expired", {"reason": "deadline exceeded", "deadline_ms": 1})
DELIVERED: Step = ("a2a_result_delivered", {"attempt_id": None})
ACKED: Step = ("a2a_result_acked", {})


def replay(*steps: Step, seqs: list[int] | None = None) -> Life:
    numbers = seqs or itertools.count(1)
    rows: list[Row] = [
        {"pk": seq, "seq": seq, "kind": kind, "data": json.dumps(data), "at": "now", "request_id": "one"}
        for seq, (kind, data) in zip(numbers, steps, strict=False)
    ]
    return replayed("T1", rows)


@pytest.mark.parametrize(
    ("steps", "state", "ends", "delivery"),
    [
        ([SENT, LEASED], "in_flight", {"L1": None}, None),
        ([SENT, LEASED, POSTED], "resolved", {"L1": "result"}, "pending"),
        ([SENT, LEASED, RELEASED, AGAIN], "in_flight", {"L1": "release", "L2": None}, None),
        ([SENT, LEASED, ERASED, AGAIN], "in_flight", {"L1": "release", "L2": None}, None),
        ([SENT, LEASED, REQUEUED, LATE], "resolved", {"L1": "requeue"}, "pending"),
        ([SENT, LEASED, FORCED], "resolved", {"L1": "force_error"}, "pending"),
        ([SENT, LEASED, CANCELLED], "resolved", {"L1": "cancel"}, "pending"),
        ([SENT, EXPIRED, DELIVERED], "resolved", {}, "delivered"),
        ([SENT, REPLAYED, DELIVERED, ACKED], "resolved", {}, "acked"),
    ],
)
def test_the_journal_leads_to_the_state_of_the_task(steps, state, ends, delivery):
    life = replay(*steps)

    assert life.problems == []
    assert (life.state, life.ends, life.delivery) == (state, ends, delivery)


@pytest.mark.parametrize(
    "steps",
    [
        [LEASED],
        [SENT, SENT],
        [SENT, LEASED, AGAIN],
        [SENT, AGAIN],
        [SENT, LEASED, RELEASED, POSTED],
        [SENT, LEASED, POSTED, POSTED],
        [SENT, LEASED, POSTED, AGAIN],
        [SENT, LEASED, REPLAYED],
        [SENT, REQUEUED],
        [SENT, LEASED, LATE],
        [SENT, LEASED, POSTED, DELIVERED, DELIVERED],
        [SENT, LEASED, POSTED, ACKED, ACKED],
        [SENT, DELIVERED],
        [SENT, ("a2a_invented", {})],
    ],
)
def test_a_row_that_contradicts_those_before_it_is_named(steps):
    assert len(replay(*steps).problems) >= 1


def test_a_gap_in_the_numbers_is_named():
    assert replay(SENT, LEASED, POSTED, seqs=[1, 3, 4]).problems == ["gap: row 3 follows row 1"]
