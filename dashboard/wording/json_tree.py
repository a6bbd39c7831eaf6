"""JSON values as trees, which a page shows branch by branch and without a script."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from mailbox.words import json_text

DEPTH = 8  # branches within each other
MOST = 32 * 1024  # characters of all trees of one list of parts
_COST = 64  # characters that a node counts for beside its own
_LABEL, _TEXT = 100, 200  # characters


@dataclass(slots=True, kw_only=True)
class JsonNode:
    """A value in a tree. ``label`` is its key or its position, "" for the root.

    ``text`` is the beginning of a bare value as JSON, and for an object or an array the count of its members. ``left``
    counts the members that are not shown. ``path`` leads to an object or an array from the root, which is ``$``.
    """

    label: str
    text: str
    is_branch: bool
    members: list[JsonNode] = field(default_factory=list)
    left: int = 0
    path: str = ""


def tree_of(value: Any, room: int) -> tuple[JsonNode | None, int]:
    """Return the tree of a value in at most ``room`` characters, and the room that is left.

    The tree is None for a bare value, for an empty one, and without room for one member. Upper levels come first.
    """
    root = _node("", value)
    root.path = "$"
    waiting = deque([(root, value, 1)])
    while waiting:
        branch, inner, depth = waiting.popleft()
        members = _members(inner) if depth <= DEPTH else iter(())
        for label, member in members:
            node = _node(label, member)
            node.path = branch.path + _step(inner, node.label) if node.is_branch else ""
            cost = _COST + len(node.label) + len(node.text) + len(node.path)
            if cost > room:
                room = 0
                break
            room -= cost
            branch.members.append(node)
            if node.is_branch:
                waiting.append((node, member, depth + 1))
        branch.left = len(inner) - len(branch.members) if branch.is_branch else 0
    return (root if root.members else None), room


def _members(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        return iter(value.items())
    if isinstance(value, list):
        return ((str(position), member) for position, member in enumerate(value))
    return iter(())


def _node(label: str, value: Any) -> JsonNode:
    is_branch = isinstance(value, dict | list) and bool(value)
    text = _count(value) if is_branch else _head(json_text.dumps(value), _TEXT)
    return JsonNode(label=_head(label, _LABEL), text=text, is_branch=is_branch)


def _step(parent: Any, label: str) -> str:
    """Return the step of a JSONPath to a member."""
    if isinstance(parent, list):
        return f"[{label}]"
    return f".{label}" if re.fullmatch(r"[A-Za-z_]\w*", label, re.ASCII) else f"[{json_text.dumps(label)}]"


def _count(value: Any) -> str:
    what = "member" if isinstance(value, dict) else "item"
    return f"{len(value)} {what}{'' if len(value) == 1 else 's'}"


def _head(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}…"
