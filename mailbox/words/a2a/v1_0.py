"""Tasks and events as JSON of the official A2A protocol 1.0. Empty members are left out, as ProtoJSON leaves them out.

Source: A2A 1.0, Task, Message, Artifact, StreamResponse.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from mailbox.words.a2a import fold
from mailbox.words.a2a.parts import parts_of, readable

GENERATION = "urn:a2a-hub:generation:v1"  # the extension that numbers the events of a task
LONGEST_TENANT = 200  # characters, in the card of a remote agent
HUB = "a2a-hub"  # the member of metadata with the hub's own facts

Json = dict[str, Any]


def task(
    view: fold.TaskSnapshot, *, history_length: int | None = None, artifacts: bool = True, numbered: bool = False
) -> Json:
    """Return a task. ``history_length``: its newest messages, all for None, and no history for 0.

    ``numbered``: its metadata has the generation.
    """
    history = view.history if history_length is None else view.history[max(0, len(view.history) - history_length) :]
    ids = {"taskId": str(view.task_id), "contextId": view.context_id}
    return _without_empty(
        id=ids["taskId"],
        contextId=view.context_id,
        status=status(view.status, ids),
        artifacts=[artifact(one) for one in view.artifacts] if artifacts else None,
        history=[message(said, ids) for said in history],
        metadata=_metadata(view.status, view.generation if numbered else None),
    )


def stream_response(task_id: UUID, context_id: str | None, event: fold.TaskEvent, *, numbered: bool = False) -> Json:
    """Return a change of status or of an artifact. The event of the task itself is no change, see `task`."""
    ids = {"taskId": str(task_id), "contextId": context_id}
    metadata = _metadata(event.status, event.generation if numbered else None)
    if event.kind == fold.EventKind.ARTIFACT and event.produced is not None:
        chunk = event.produced
        numbers = {key: value for key, value in metadata.items() if key == GENERATION}
        update = _without_empty(
            **ids, artifact=artifact(chunk), append=chunk.append, lastChunk=chunk.last_chunk, metadata=numbers
        )
        return {"artifactUpdate": update}
    if (carried := event.status.message) is not None and carried.progress is not None:
        metadata["progress"] = carried.progress["value"]
    return {"statusUpdate": _without_empty(**ids, status=status(event.status, ids), metadata=metadata)}


def direct_message(context_id: str | None, answer: fold.StatusSnapshot) -> Json:
    """Return the one message of a direct answer, which names no task."""
    if answer.message is None:
        raise ValueError("a direct answer has a message")
    return message(answer.message, {"contextId": context_id})


def status(of: fold.StatusSnapshot, ids: Mapping[str, str | None]) -> Json:
    carried = None if of.message is None else message(of.message, ids)
    return _without_empty(state=str(of.state), message=carried, timestamp=timestamp(of.at))


def message(of: fold.LifeMessage, ids: Mapping[str, str | None]) -> Json:
    """Return a message with the ids of its task and context."""
    extra = of.extra
    metadata = dict(extra.get("metadata") or {})
    if of.progress is not None:
        metadata.setdefault("progress", of.progress["value"])
    return _without_empty(
        messageId=of.message_id,
        contextId=ids.get("contextId"),
        taskId=ids.get("taskId"),
        role="ROLE_AGENT" if of.is_agents else "ROLE_USER",
        parts=parts_of(fold.words_of(of)),
        metadata=readable(metadata),
        extensions=extra.get("extensions"),
        referenceTaskIds=extra.get("reference_task_ids"),
    )


def artifact(produced: fold.ArtifactRow) -> Json:
    extra = produced.extra
    return _without_empty(
        artifactId=produced.artifact_id,
        name=extra.get("name"),
        description=extra.get("description"),
        parts=parts_of(produced.blocks),
        metadata=readable(extra.get("metadata") or {}),
        extensions=extra.get("extensions"),
    )


def timestamp(moment: datetime) -> str:
    """Return a time in UTC with milliseconds, which are cut and not rounded."""
    utc = moment.astimezone(UTC)
    return f"{utc:%Y-%m-%dT%H:%M:%S}.{utc.microsecond // 1000:03d}Z"


def _metadata(of: fold.StatusSnapshot, generation: int | None) -> Json:
    own: Json = {}
    if of.outcome == "partial":
        own["outcome"] = of.outcome
    if of.attempt > 1:
        own["attempt"] = of.attempt
    metadata: Json = {HUB: own} if own else {}
    if generation is not None:
        metadata[GENERATION] = {"generation": generation}
    return metadata


def _without_empty(**members: Json | Sequence[object] | str | bool | None) -> Json:
    return {name: value for name, value in members.items() if value not in (None, "", False, [], {})}
