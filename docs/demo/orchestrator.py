"""An orchestrating agent: cuts a text into sections, sends each section to every worker, joins the results.

Usage: A2A_URL=... A2A_API_KEY=... A2A_NAME=orchestrator@local python orchestrator.py FILE WORKER_KIND...

The whole job is a task too, which the orchestrator sends to itself. It is the parent of all other tasks, so the hub
can draw the tree and any reader can join the results.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import document
import report
from hub_client import HubClient, RefusedError, UnreachableError
from progress import Progress

TIME_TO_FINISH = 120.0  # seconds


class UnfinishedError(Exception):
    """The job did not finish; the message says what is missing."""


def main(path: Path, kinds: Sequence[str]) -> None:
    sections = document.sections(document.read(path))
    with HubClient.from_environment() as hub:
        root, lease_id = open_job(hub, path.name)
        sent = fan_out(hub, root, sections, kinds)
        gather(hub, set(sent))
        joined = join(tree(hub, root), root, sent)
        findings = report.assemble(path.name, sections, joined)
        close_job(hub, root, lease_id, findings)
        sys.stdout.write(f"{findings}\n\nTask tree\n")
        sys.stdout.writelines(f"{line}\n" for line in report.draw_tree(tree(hub, root)))
    if failed := sum(part["outcome"] != "ok" for parts in joined for part in parts):
        raise UnfinishedError(f"{failed} of {len(sent)} tasks failed")


def open_job(hub: HubClient, name: str) -> tuple[str, str]:
    """Send the root task to this agent itself and lease it; return the ids of the task and the lease."""
    root = str(uuid.uuid4())
    recipient = os.environ["A2A_NAME"]
    hub.post("/a2a/tasks", id=root, recipient=recipient, task_kind="report", intent_text=f"Report on {name}")
    leased = hub.next_task()
    if leased is None or leased[0]["id"] != root:
        raise UnfinishedError("the job's own task did not come")
    return root, leased[1]


def fan_out(hub: HubClient, root: str, sections: Sequence[str], kinds: Sequence[str]) -> dict[str, int]:
    """Send one task per section and kind of worker; return the section's number by task id."""
    deadline_ms = round((time.time() + TIME_TO_FINISH) * 1000)
    progress = Progress("sent", len(sections) * len(kinds))
    sent = {}
    for number, section in enumerate(sections):
        digest = hashlib.sha256(section.encode()).hexdigest()
        for kind in kinds:
            task_id = str(uuid.uuid4())
            hub.post(
                "/a2a/tasks",
                id=task_id,
                recipient=f"{kind}@local",
                task_kind=kind,
                intent_text=section,
                parent=root,
                deadline_ms=deadline_ms,
                idempotency={"duplicate_safety": "idempotent", "key": digest},
            )
            sent[task_id] = number
            progress.advance()
    return sent


def gather(hub: HubClient, expected: set[str]) -> None:
    """Drain results until all expected results are there. Each drain acknowledges the result before."""
    give_up_at = time.monotonic() + TIME_TO_FINISH
    progress = Progress("done", len(expected))
    missing = set(expected)
    last: str | None = None
    while missing:
        if time.monotonic() > give_up_at:
            raise UnfinishedError(f"{len(missing)} results did not come within {TIME_TO_FINISH:.0f} seconds")
        result = hub.next_result(ack=last)
        last = None if result is None else result["task_id"]
        if last in missing:
            missing.discard(last)
            progress.advance()
    hub.post("/a2a/results/ack", task_ids=[last])


def join(nodes: Sequence[report.Node], root: str, sent: Mapping[str, int]) -> list[list[report.Node]]:
    """Return the children of ``root`` by the number of their section."""
    parts: list[list[report.Node]] = [[] for _ in set(sent.values())]
    for node in nodes:
        if node["task"].get("parent") == root:
            parts[sent[node["task"]["id"]]].append(node)
    return parts


def close_job(hub: HubClient, root: str, lease_id: str, findings: str) -> None:
    """Post the report as the result of the root task, then drain it: this agent is sender and recipient."""
    content = [{"type": "text", "text": findings}]
    hub.post("/a2a/results", task_id=root, lease_id=lease_id, status="ok", content=content)
    if hub.next_result(ack=None) is None:
        raise UnfinishedError("the job's own result did not come")
    hub.post("/a2a/results/ack", task_ids=[root])


def tree(hub: HubClient, root: str) -> list[dict[str, Any]]:
    nodes: list[dict[str, Any]] = hub.get(f"/a2a/tasks/{root}/tree")["nodes"]
    return nodes


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]), sys.argv[2:])
    except (document.UnreadableError, RefusedError, UnfinishedError, UnreachableError) as error:
        sys.exit(f"orchestrator: {error}")
