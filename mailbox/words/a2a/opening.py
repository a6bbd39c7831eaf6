"""The first message of a task: how the row of the task stores it, and how it is read back.

The intent text alone stores a message of one bare text. `Task.metadata` stores the rest of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mailbox.words.conversation import AGENT

_EXTRA = ("metadata", "extensions", "reference_task_ids")


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """The message that made a task. ``message_id`` is its sender's own, "" without one.

    ``is_agents``: its sender gave itself the role of an agent. ``extra`` has metadata, extensions and
    reference_task_ids, each only if its sender gave it.
    """

    blocks: Sequence[Mapping[str, Any]]
    message_id: str = ""
    is_agents: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict)

    def stored(self, intent_text: str) -> dict[str, Any]:
        """Return what the metadata of its task stores as ``message`` beside the intent text."""
        stored: dict[str, Any] = {"message_id": self.message_id} if self.message_id else {}
        if self.is_agents:
            stored["role"] = AGENT
        blocks = [dict(block) for block in self.blocks]
        if blocks != _bare(intent_text):
            stored["content"] = blocks
        return stored | {name: self.extra[name] for name in _EXTRA if self.extra.get(name)}


def opening_of(intent_text: str, metadata: Mapping[str, Any]) -> Opening:
    """Return the first message of a task with this intent text and these metadata.

    Without a stored message it is the intent text, as in a task of another dialect.
    """
    stored = metadata.get("message")
    if not isinstance(stored, Mapping):
        return Opening(blocks=_bare(intent_text))
    return Opening(
        blocks=stored.get("content", _bare(intent_text)),
        message_id=stored.get("message_id", ""),
        is_agents=stored.get("role") == AGENT,
        extra={name: stored[name] for name in _EXTRA if name in stored},
    )


def _bare(text: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text}]
