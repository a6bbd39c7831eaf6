"""Replays the journal of a task: the state that its rows lead to, and each row that contradicts those before it."""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tools.proof.rows import Row

Data = Mapping[str, Any]
UNRESOLVED = ("queued", "in_flight", "interrupted")
ERASED = {"erased", "by"}  # the fields of a row whose data was erased


@dataclass(slots=True)
class Life:
    """A task as its journal rows tell it. ``problems`` are the rows that do not follow from those before them."""

    task_id: str
    state: str = ""  # "" before the send
    outcome: str | None = None
    attempt: int = 0
    seq: int = 0
    waits: bool = False
    live: str | None = None  # the id of the live lease
    delivery: str | None = None  # pending, delivered, acked; None before the result
    ends: dict[str, str | None] = field(default_factory=dict)  # how each lease ended, by id; None while live
    attempts: dict[str, int] = field(default_factory=dict)  # the attempt of each lease
    spans: dict[str, tuple[int, float]] = field(default_factory=dict)  # the keys of the rows from begin to end
    ended_by: dict[str, Row] = field(default_factory=dict)  # the row that ended each lease
    sent: Row | None = None
    result: Row | None = None  # the row that resolved the task
    placed: set[str] = field(default_factory=set)  # the ids of its artifacts
    problems: list[str] = field(default_factory=list)

    def follow(self, row: Row) -> None:
        """Apply the next row."""
        data = json.loads(row["data"])
        if data.keys() == ERASED:  # all that is left of it is that it named the live lease
            data = {"lease_id": self.live}
        if row["seq"] != self.seq + 1:
            self.problems.append(f"gap: row {row['seq']} follows row {self.seq}")
        self.seq = row["seq"]
        step = STEPS.get(row["kind"])
        if step is None:
            self.problems.append(f"row {self.seq}: unknown kind {row['kind']}")
            return
        step(self, row, data)

    def expect(self, row: Row, holds: bool, what: str) -> None:
        if not holds:
            is_at = f"{self.state} at attempt {self.attempt}, lease {self.live}, result {self.delivery}"
            self.problems.append(f"row {row['seq']} {row['kind']}: {what}; the task is {is_at}")

    def end_lease(self, row: Row, how: str) -> None:
        if self.live is not None:
            self.ends[self.live], self.ended_by[self.live] = how, row
            self.spans[self.live] = (self.spans[self.live][0], row["pk"])
            self.live = None

    def resolve(self, row: Row, outcome: str, how: str) -> None:
        self.expect(row, self.state in UNRESOLVED, "it resolves an unresolved task")
        self.end_lease(row, how)
        self.state, self.outcome, self.waits = "resolved", outcome, False
        self.delivery, self.result = "pending", row

    def requeue(self, row: Row, how: str) -> None:
        self.expect(row, self.state == "in_flight", "it requeues a leased task")
        self.end_lease(row, how)
        self.state = "queued"


def _sent(life: Life, row: Row, data: Data) -> None:
    life.expect(row, life.state == "", "it is the first row")
    life.state, life.sent, life.waits = "queued", row, "waits_on" in data


def _leased(life: Life, row: Row, data: Data) -> None:
    life.expect(row, life.state in ("queued", "interrupted"), "it leases a queued or an interrupted task")
    life.expect(row, not life.waits, "it leases no task that waits on another")
    life.expect(row, data["attempt"] == life.attempt + 1, f"its attempt {data['attempt']} is the next")
    lease_id = data["lease_id"]
    life.expect(row, lease_id not in life.ends, "its lease is new")
    life.state, life.attempt, life.live = "in_flight", data["attempt"], lease_id
    life.ends[lease_id], life.attempts[lease_id] = None, data["attempt"]
    life.spans[lease_id] = (row["pk"], math.inf)


def _released(life: Life, row: Row, data: Data) -> None:
    life.expect(row, data["lease_id"] == life.live, "it names the live lease")
    life.requeue(row, "release")


def _updated(life: Life, row: Row, data: Data) -> None:
    life.expect(row, data["lease_id"] == life.live, "it names the live lease")
    if (artifact := data.get("artifact")) is not None:
        is_known = artifact["artifact_id"] in life.placed
        life.expect(row, is_known or not artifact["append"], "it adds to an artifact of the task")
        life.placed.add(artifact["artifact_id"])


def _asked(life: Life, row: Row, data: Data) -> None:
    life.expect(row, life.state == "in_flight", "it interrupts a leased task")
    life.expect(row, data["lease_id"] == life.live, "it names the live lease")
    life.end_lease(row, "asked")
    life.state = "interrupted"


def _said(life: Life, row: Row, data: Data) -> None:
    life.expect(row, life.state in UNRESOLVED, "it is said of an unresolved task")
    if life.state == "interrupted":
        life.state = "queued"


def _woken(life: Life, row: Row, data: Data) -> None:
    life.expect(row, life.state == "queued", "it wakes a queued task")
    life.waits = False


def _cancelled(life: Life, row: Row, data: Data) -> None:
    life.resolve(row, "cancelled", "cancel")


def _expired(life: Life, row: Row, data: Data) -> None:
    life.expect(row, data.get("lease_id") == life.live, "it names the live lease, or none")
    life.resolve(row, "expired", "expired")


def _posted(life: Life, row: Row, data: Data) -> None:
    life.expect(row, data["lease_id"] == life.live, f"it ends the live lease and not {data['lease_id']}")
    life.resolve(row, data["status"], "result")


def _replayed(life: Life, row: Row, data: Data) -> None:
    life.expect(row, life.state == "queued", "it answers a queued task")
    life.resolve(row, data["status"], "result")


def _repaired(life: Life, row: Row, data: Data) -> None:
    life.expect(row, data["lease_id"] in (None, life.live), "it names the live lease, or none")
    may = ("in_flight", "interrupted") if data["action"] == "force_error" else ("in_flight",)
    life.expect(row, life.state in may, "it repairs a leased task, or forces an error of an interrupted task")
    if data["action"] == "force_error":
        life.resolve(row, "error", "force_error")
    else:
        life.requeue(row, data["action"])


def _delivered(life: Life, row: Row, data: Data) -> None:
    life.expect(row, life.delivery == "pending", "it delivers a pending result")
    life.delivery = "delivered"


def _acked(life: Life, row: Row, data: Data) -> None:
    life.expect(row, life.delivery in ("pending", "delivered"), "it acknowledges a result for the first time")
    life.delivery = "acked"


STEPS: Mapping[str, Callable[[Life, Row, Data], None]] = {
    "a2a_task_sent": _sent,
    "a2a_task_leased": _leased,
    "a2a_task_released": _released,
    "a2a_task_updated": _updated,
    "a2a_task_asked": _asked,
    "a2a_message_sent": _said,
    "a2a_task_woken": _woken,
    "a2a_task_cancelled": _cancelled,
    "a2a_task_expired": _expired,
    "a2a_result_posted": _posted,
    "a2a_result_replayed": _replayed,
    "a2a_repair_applied": _repaired,
    "a2a_result_delivered": _delivered,
    "a2a_result_acked": _acked,
}


def lives(events: Iterable[Row]) -> dict[str, Life]:
    """Return the life of each task that has numbered rows."""
    numbered: dict[str, list[Row]] = {}
    for event in events:
        if event["seq"] is not None:
            numbered.setdefault(event["task_id"], []).append(event)
    return {task_id: replayed(task_id, rows) for task_id, rows in numbered.items()}


def replayed(task_id: str, rows: Iterable[Row]) -> Life:
    life = Life(task_id)
    for row in in_order(rows):
        life.follow(row)
    return life


def in_order(rows: Iterable[Row]) -> Iterator[Row]:
    yield from sorted(rows, key=lambda row: int(row["seq"]))
