"""The rows of a hub's database after a run: python -m tools.proof.rows FILE [SEED AFTER]

The program writes the tables that the checker reads to FILE, as JSON. The checker itself needs no database.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.hub import ROOT

if TYPE_CHECKING:
    from tools.proof.stage import Stage

Row = Mapping[str, Any]
PATIENCE = 300.0

TABLES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "tasks": (
        "Task",
        (
            *("uuid", "sender__display", "recipient__display", "state", "outcome", "attempt", "journal_seq"),
            *("waits_on__uuid", "calls_back", "task_kind", "idempotency_key", "duplicate_safety", "awaits", "turn"),
        ),
    ),
    "leases": (
        "Lease",
        (
            *("lease_id", "task__uuid", "holder__display", "attempt", "leased_at", "ended_at", "end"),
            *("receive_attempt_id", "receive_index"),
        ),
    ),
    "results": (
        "Result",
        (
            *("task__uuid", "sender__display", "recipient__display", "status", "content", "error_message"),
            *("posted_by__display", "replayed_from", "delivery", "delivered_at"),
            *("receive_attempt_id", "receive_index"),
        ),
    ),
    "events": ("AuditEvent", ("pk", "kind", "actor", "task_id", "seq", "data", "at", "request_id", "source")),
    "plan_rows": ("RepairPlanRow", ("plan_id", "task_id", "lease_id", "outcome")),
    "deliveries": ("PushDelivery", ("task_uuid", "state", "attempts")),
    "messages": ("Message", ("task__uuid", "seq", "role", "content")),
    "artifacts": ("Artifact", ("task__uuid", "seq", "artifact_id", "append", "content")),
}

# The field with the name of the sender, which holds the seed of its run.
SENDERS: Mapping[str, str] = {
    **dict.fromkeys(("tasks", "results", "deliveries"), "sender__display"),
    **dict.fromkeys(("leases", "messages", "artifacts"), "task__sender__display"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """The rows of each table as dictionaries by field, ids as text, in order of their keys."""

    tasks: Sequence[Row]
    leases: Sequence[Row]
    results: Sequence[Row]
    events: Sequence[Row]
    plan_rows: Sequence[Row]
    deliveries: Sequence[Row]
    messages: Sequence[Row] = ()
    artifacts: Sequence[Row] = ()


def of_stage(stage: Stage) -> Rows:
    """Read the rows of a stage's database in a process of their own."""
    return _read_by_program(stage)


def of_run(stage: Stage, seed: int) -> Rows:
    """Read the rows of the run with that seed, which is the only one since the last `of_run` on this stage.

    A hub that was loaded for an hour has far more rows than the last run.
    """
    found = _read_by_program(stage, str(seed), str(stage.checked_until))
    stage.checked_until = max((row["pk"] for row in found.events), default=stage.checked_until)
    return found


def _read_by_program(stage: Stage, *which: str) -> Rows:
    path = stage.folder / "rows.json"
    environment = {**os.environ, "A2A_VAR": str(stage.folder), "DATABASE_URL": stage.database_url}
    command = [sys.executable, "-m", "tools.proof.rows", str(path), *which]
    subprocess.run(command, cwd=ROOT, env=environment, check=True, timeout=PATIENCE)
    return Rows(**json.loads(path.read_text()))


def _read(seed: str = "", after: str = "0") -> dict[str, list[dict[str, Any]]]:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "a2aproject.settings")
    django.setup()
    from django.apps import apps

    found = {}
    for table, (model, fields) in TABLES.items():
        rows = apps.get_model("mailbox", model)._default_manager.order_by("pk")
        if seed and table in SENDERS:
            rows = rows.filter(**{f"{SENDERS[table]}__contains": f"-{seed}-"})
        if table == "events":
            rows = rows.filter(pk__gt=after)
        found[table] = list(rows.values(*fields))
    return found


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(json.dumps(_read(*sys.argv[2:]), default=str))
