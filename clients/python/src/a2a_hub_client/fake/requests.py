"""One request to the hub in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from a2a_hub_client.fake.state import Json, Party, Refusal, Tables, TaskRow, optional_uuid


@dataclass(kw_only=True)
class Request:
    """A request of a party. ``words`` are the variable parts of the path.

    A handler sets ``is_empty`` if it has nothing to answer yet. Then the request waits for a change.
    """

    tables: Tables
    caller: Party
    words: Mapping[str, str]
    query: Mapping[str, str]
    body: Json
    is_empty: bool = False

    @property
    def wait_ms(self) -> int:
        """How long the request may wait, in milliseconds."""
        return int(self.query.get("wait_ms") or self.body.get("wait_ms") or 0)

    @property
    def task(self) -> TaskRow:
        """The task that the path names. Raises `Refusal`."""
        return self.tables.task(self.words["task"], for_=self.caller)

    @property
    def lease_id(self) -> UUID | None:
        """The lease that the body names."""
        return optional_uuid(self.body.get("lease_id"), "lease_id")

    @property
    def attempt_id(self) -> UUID | None:
        """The attempt id of the body."""
        return optional_uuid(self.body.get("attempt_id"), "attempt_id")

    def page(self, key: str, items: Iterable[Any]) -> Json:
        """Return a page of a list. The cursor is a place in it."""
        start, limit = int(self.query.get("cursor") or 0), int(self.query.get("limit") or 10)
        rows = list(items)
        rest = start + limit
        return {key: rows[start:rest], "next_cursor": str(rest) if rest < len(rows) else None}

    def each(self, items: Sequence[Json], do: Callable[[Json], UUID], id_field: str) -> Json:
        """Do each item of a batch; return the ids of those that succeeded, and the refused items."""
        posted: list[UUID] = []
        refused: list[Json] = []
        for index, item in enumerate(items):
            done = _outcome(do, item)
            if isinstance(done, Refusal):
                shown = {name: value for name, value in done.body.items() if name in ("code", "message", "fields")}
                refused.append({"index": index, "task_id": item.get(id_field), **shown})
            else:
                posted.append(done)
        return {"posted": posted, "refused": refused}


def _outcome(do: Callable[[Json], UUID], item: Json) -> UUID | Refusal:
    try:
        return do(item)
    except Refusal as refusal:
        return refusal


Handler = Callable[[Request], Json]
