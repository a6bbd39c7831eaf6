"""The tasks that a block of code changes, for those who watch it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from uuid import UUID

_noted: ContextVar[dict[UUID, None] | None] = ContextVar("touched", default=None)


@contextmanager
def noted() -> Iterator[dict[UUID, None]]:
    """Yield the ids of the tasks that the block changes, in their order, as keys that come during the block."""
    found: dict[UUID, None] = {}
    token = _noted.set(found)
    try:
        yield found
    finally:
        _noted.reset(token)


def note(tasks: Iterable[UUID]) -> None:
    """Tell the block around this call that these tasks change. Without such a block nothing happens."""
    found = _noted.get()
    if found is not None:
        found.update(dict.fromkeys(tasks))
