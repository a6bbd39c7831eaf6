"""What the idempotency cache is worth, read in one query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from django.contrib.auth.models import User
from django.db.models import QuerySet

from dashboard.figures.thresholds import COUNTED_TO, Count
from mailbox.database.counted import Counted, Summed


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """``hits`` are those of the ``entries``, as far as these are counted; ``waiting`` duplicates wait just now."""

    entries: Count
    hits: int
    waiting: Count

    @classmethod
    def read(cls, username: str, found: QuerySet[Any], waiting: QuerySet[Any]) -> Self:
        """Read all three for the person of this name, whose row the query hangs from."""
        counted = Counted.up_to(COUNTED_TO, found), Summed.up_to(COUNTED_TO, found, "hits")
        person = User.objects.filter(username=username)
        ((entries, hits, waits),) = person.values_list(*counted, Counted.up_to(COUNTED_TO, waiting))
        return cls(entries=Count(entries or 0), hits=hits or 0, waiting=Count(waits or 0))
