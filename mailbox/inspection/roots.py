"""The roots of the trees that tasks belong to, by ``parent``."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from django.db import connection
from django.db.models import UUIDField

DEEPEST = 100  # levels; above that the task of the last level counts as the root

_ROOTS = """
WITH RECURSIVE up(uuid, parent, depth) AS (
  SELECT uuid, parent, 0 FROM mailbox_task WHERE uuid IN ({marks})
  UNION SELECT up.parent, task.parent, up.depth + 1
  FROM up LEFT JOIN mailbox_task task ON task.uuid = up.parent WHERE up.parent IS NOT NULL AND up.depth < {deepest}
) SELECT DISTINCT uuid FROM up WHERE parent IS NULL OR depth = {deepest}"""


def of(tasks: Collection[UUID]) -> list[UUID]:
    """Return the roots of these tasks, each once, in order of their ids. One query.

    A parent without a row is a root too: it is compacted, or any id.
    """
    if not tasks:
        return []
    prepared = [UUIDField().get_db_prep_value(task, connection) for task in tasks]
    text = _ROOTS.format(marks=", ".join(["%s"] * len(prepared)), deepest=DEEPEST)
    with connection.cursor() as cursor:
        cursor.execute(text, prepared)
        return sorted(_uuid(row[0]) for row in cursor.fetchall())


_ROOT_OF_EACH = """
WITH RECURSIVE up(origin, uuid, parent, depth) AS (
  SELECT uuid, uuid, parent, 0 FROM mailbox_task WHERE uuid IN ({marks})
  UNION SELECT up.origin, up.parent, task.parent, up.depth + 1
  FROM up LEFT JOIN mailbox_task task ON task.uuid = up.parent WHERE up.parent IS NOT NULL AND up.depth < {deepest}
) SELECT origin, uuid FROM up WHERE parent IS NULL OR depth = {deepest}"""


def of_each(tasks: Collection[UUID]) -> dict[UUID, UUID]:
    """Return the root of each of these tasks that has a row. One query."""
    if not tasks:
        return {}
    prepared = [UUIDField().get_db_prep_value(task, connection) for task in tasks]
    text = _ROOT_OF_EACH.format(marks=", ".join(["%s"] * len(prepared)), deepest=DEEPEST)
    with connection.cursor() as cursor:
        cursor.execute(text, prepared)
        return {_uuid(origin): _uuid(root) for origin, root in cursor.fetchall()}


def _uuid(value: UUID | str) -> UUID:
    return value if isinstance(value, UUID) else UUID(value)
