"""JSON that is nested deep, for tests."""

from typing import Any


def nested(levels: int, leaf: Any = 1) -> dict[str, Any]:
    """Return an object of so many levels, objects and arrays in turn. ``leaf`` is in the last."""
    inner: Any = leaf
    for level in range(levels - 1, 0, -1):
        inner = [inner] if level % 2 else {"a": inner}
    return {"a": inner}
