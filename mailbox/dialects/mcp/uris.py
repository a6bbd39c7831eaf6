"""The URIs of resources: tasks, and the artifacts of a task."""

from __future__ import annotations

import re
from urllib.parse import quote, unquote
from uuid import UUID

TASK, ARTIFACT = "a2a://tasks/{id}", "a2a://tasks/{id}/artifacts/{name}"
_PARSED = re.compile(
    r"a2a://tasks/([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})(?:/artifacts/([^/?#]+))?", re.IGNORECASE | re.ASCII
)


def of_task(task_id: UUID) -> str:
    return TASK.format(id=task_id)


def of_artifact(task_id: UUID, artifact_id: str) -> str:
    return ARTIFACT.format(id=task_id, name=quote(artifact_id, safe=""))


def parsed(uri: str) -> tuple[UUID, str | None] | None:
    """Return the task and the artifact that a URI names, None for no artifact; None for the URI of no resource."""
    found = _PARSED.fullmatch(uri)
    if found is None:
        return None
    return UUID(found[1]), None if found[2] is None else unquote(found[2])
