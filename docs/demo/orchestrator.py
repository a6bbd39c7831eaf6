"""An orchestrating agent: cuts a text into sections, sends each section to every worker, joins the results.

Usage: A2A_URL=... A2A_API_KEY=... python orchestrator.py FILE WORKER_KIND...

The whole job is a task too, which the orchestrator sends to itself. It is the parent of all other tasks, so the hub
can draw the tree and any reader can join the results.
"""

import hashlib
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import document
import report
from progress import Progress

from a2a_hub_client import Answer, Hub, HubError, NewTask, ResultTimeoutError, TaskHandle
from a2a_hub_client.models.tasks import TreeNode

TIME_TO_FINISH = 120.0  # seconds


class UnfinishedError(Exception):
    """The job did not finish; the message says what is missing."""


def main(path: Path, kinds: Sequence[str]) -> None:
    sections = document.sections(document.read(path))
    with Hub() as hub:
        root, lease_id = open_job(hub, path.name)
        sent = fan_out(hub, root, sections, kinds)
        gather(hub, list(sent))
        joined = join(list(root.tree()), root, sent)
        findings = report.assemble(path.name, sections, joined)
        close_job(hub, root, lease_id, findings)
        sys.stdout.write(f"{findings}\n\nTask tree\n")
        sys.stdout.writelines(f"{line}\n" for line in report.draw_tree(list(root.tree())))
    if failed := sum(part.outcome != "ok" for parts in joined for part in parts):
        raise UnfinishedError(f"{failed} of {len(sent)} tasks failed")


def open_job(hub: Hub, name: str) -> tuple[TaskHandle, UUID]:
    """Send the root task to this agent itself and lease it; return it and the id of the lease."""
    root = hub.send(str(hub.me().agent), f"Report on {name}", kind="report")
    return root, hub.lease(root.id).lease.id


def fan_out(hub: Hub, root: TaskHandle, sections: Sequence[str], kinds: Sequence[str]) -> dict[UUID, int]:
    """Send one task per section and kind of worker; return the section's number by task id."""
    sent = {}
    tasks = []
    for number, section in enumerate(sections):
        digest = hashlib.sha256(section.encode()).hexdigest()
        for kind in kinds:
            task = NewTask(
                to=f"{kind}@local",
                text=section,
                kind=kind,
                parent=root.id,
                deadline=timedelta(seconds=TIME_TO_FINISH),
                idempotency_key=digest,
            )
            sent[task.id] = number
            tasks.append(task)
    for outcome in hub.send_many(tasks):
        if isinstance(outcome, HubError):
            raise outcome
    return sent


def gather(hub: Hub, expected: Sequence[UUID]) -> None:
    """Wait for the result of each task."""
    give_up_at = time.monotonic() + TIME_TO_FINISH
    progress = Progress("done", len(expected))
    for number, task_id in enumerate(expected):
        try:
            hub.task(task_id).result(max(0.0, give_up_at - time.monotonic()))
        except ResultTimeoutError:
            missing = len(expected) - number
            raise UnfinishedError(f"{missing} results did not come within {TIME_TO_FINISH:.0f} seconds") from None
        progress.advance()


def join(nodes: Sequence[TreeNode], root: TaskHandle, sent: Mapping[UUID, int]) -> list[list[TreeNode]]:
    """Return the children of ``root`` by the number of their section."""
    parts: list[list[TreeNode]] = [[] for _ in set(sent.values())]
    for node in nodes:
        if node.task.parent == root.id:
            parts[sent[node.task.id]].append(node)
    return parts


def close_job(hub: Hub, root: TaskHandle, lease_id: UUID, findings: str) -> None:
    """Post the report as the result of the root task, then take it: this agent is sender and recipient."""
    hub.post_result(Answer(task_id=root.id, lease_id=lease_id, content=findings))
    root.result(TIME_TO_FINISH)


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]), sys.argv[2:])
    except (document.UnreadableError, HubError, UnfinishedError) as error:
        sys.exit(f"orchestrator: {error}")
