"""Merkle trees with the hashes of RFC 6962, section 2.1: a leaf and a node of the same bytes have different hashes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

Step = tuple[str, bytes]  # the side of the sibling, left or right, and its hash


def leaf(content: bytes) -> bytes:
    """Return the hash of a leaf."""
    return hashlib.sha256(b"\x00" + content).digest()


def node(left: bytes, right: bytes) -> bytes:
    """Return the hash of the node above two hashes."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def root(leaves: Sequence[bytes]) -> bytes:
    """Return the root above these leaf hashes, in order. Without a leaf it is the hash of no bytes."""
    level = list(leaves)
    while len(level) > 1:
        level = _above(level)
    return level[0] if level else hashlib.sha256(b"").digest()


def path(leaves: Sequence[bytes], index: int) -> list[Step]:
    """Return the siblings on the way from the leaf at ``index`` to the root, the lowest first."""
    level, steps = list(leaves), []
    while len(level) > 1:
        sibling = index ^ 1
        if sibling < len(level):
            steps.append(("left" if sibling < index else "right", level[sibling]))
        level, index = _above(level), index // 2
    return steps


def climbed(start: bytes, steps: Iterable[Step]) -> bytes:
    """Return the root to which ``steps`` lead from the leaf hash ``start``."""
    found = start
    for side, sibling in steps:
        found = node(sibling, found) if side == "left" else node(found, sibling)
    return found


def _above(level: Sequence[bytes]) -> list[bytes]:
    """Return the next level. A last node without a sibling rises as it is."""
    pairs = [node(level[at], level[at + 1]) for at in range(0, len(level) - 1, 2)]
    return [*pairs, level[-1]] if len(level) % 2 else pairs
