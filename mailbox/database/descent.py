"""A task and its descendants by ``parent``, level by level, as one recursive query."""

from uuid import UUID

from django.db import connection
from django.db.models import UUIDField
from django.db.models.expressions import RawSQL

OPENING = 200  # characters of an intent text that a list shows instead of all of it

# UNION drops the tasks that were read before, so the query also ends for tasks that name each other as parent.
_BELOW = """
WITH RECURSIVE below(uuid) AS (
  SELECT %s UNION SELECT task.uuid FROM mailbox_task task JOIN below ON task.parent = below.uuid
) SELECT uuid FROM below"""


def of(root: UUID, limit: int | None = None) -> RawSQL:
    """Return the ids of ``root`` and of the tasks below it, the nearest ``limit`` of them; None is all."""
    start = UUIDField().get_db_prep_value(root, connection)
    if limit is None:
        return RawSQL(_BELOW, [start])  # noqa: S611 (the text is constant)
    return RawSQL(f"{_BELOW} LIMIT %s", [start, limit])  # noqa: S611
