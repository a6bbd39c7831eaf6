"""The check that a proof's steps lead from a leaf to the root, as the holder of a proof does it."""

from collections.abc import Iterable

from mailbox.words.sealed import Step, merkle_node


def climb(start: bytes, steps: Iterable[Step]) -> bytes:
    """Return the root to which ``steps`` lead from the leaf hash ``start``."""
    root = start
    for side, sibling in steps:
        root = merkle_node(sibling, root) if side == "left" else merkle_node(root, sibling)
    return root
