"""The roots of the trees that tasks belong to, by ``parent``."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.db import connection

from mailbox.database import listed

DEEPEST = 100  # levels; above that the task of the last level counts as the root

_ROOTS = """
WITH RECURSIVE up(uuid, parent, depth) AS (
  SELECT uuid, parent, 0 FROM mailbox_task WHERE uuid IN ({ids})
  UNION SELECT up.parent, task.parent, up.depth + 1
  FROM up LEFT JOIN mailbox_task task ON task.uuid = up.parent WHERE up.parent IS NOT NULL AND up.depth < {deepest}
) SELECT DISTINCT uuid FROM up WHERE parent IS NULL OR depth = {deepest}"""


def of(tasks: Collection[UUID]) -> list[UUID]:
    """Return the roots of these tasks, each once, in order of their ids. One query.

    A parent without a row is a root too: it is compacted, or any id.
    """
    return sorted(_uuid(root) for (root,) in _rows(_ROOTS, tasks))


_ROOT_OF_EACH = """
WITH RECURSIVE up(origin, uuid, parent, depth) AS (
  SELECT uuid, uuid, parent, 0 FROM mailbox_task WHERE uuid IN ({ids})
  UNION SELECT up.origin, up.parent, task.parent, up.depth + 1
  FROM up LEFT JOIN mailbox_task task ON task.uuid = up.parent WHERE up.parent IS NOT NULL AND up.depth < {deepest}
) SELECT origin, uuid FROM up WHERE parent IS NULL OR depth = {deepest}"""


def of_each(tasks: Collection[UUID]) -> dict[UUID, UUID]:
    """Return the root of each of these tasks that has a row. One query."""
    return {_uuid(origin): _uuid(root) for origin, root in _rows(_ROOT_OF_EACH, tasks)}


def _rows(query: str, tasks: Collection[UUID]) -> list[Any]:
    if not tasks:
        return []
    text = query.format(ids=listed.UUIDS[connection.vendor], deepest=DEEPEST)
    with connection.cursor() as cursor:
        cursor.execute(text, {"ids": listed.given(list(tasks))})
        return list(cursor)


def _uuid(value: UUID | str) -> UUID:
    return value if isinstance(value, UUID) else UUID(value)
