"""The thresholds of a person's attention. One threshold feeds the tiles, the navigation, the histogram and the list."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Model, QuerySet

from mailbox.inspection.search import full_text
from mailbox.inspection.statistics import backlogs, standing
from mailbox.repairs.auto_retry import AutoRetry

COUNTED_TO = 10_000


@dataclass(frozen=True, slots=True)
class Count:
    """A number of rows, counted no further than ``most``."""

    value: int
    most: int = COUNTED_TO

    def __bool__(self) -> bool:
        return self.value > 0

    def __str__(self) -> str:
        if self.value > self.most:
            return f"{grouped(self.most)}+"
        return grouped(self.value)


def counted(rows: QuerySet[Model], *, newest_first: bool = False, has_words: bool = False) -> Count:
    """Count the ``rows`` in bounded time; ``newest_first`` walks the keys as the list does.

    ``has_words`` is whether the rows are those of a full-text search, which finds only the newest.
    """
    most = full_text.COUNTED_TO if has_words else COUNTED_TO
    return Count(rows.order_by(*(["-pk"] if newest_first else [])).values("pk")[: most + 1].count(), most)


def stale_after() -> timedelta:
    """Return the age at which a lease is stale: the least age of the retry gate."""
    return AutoRetry.from_settings().policy.min_lease_age


def limits(now: datetime) -> backlogs.Limits:
    """Return the moments since which an agent is quiet, a queued task late and a lease stale."""
    return backlogs.Limits(now - backlogs.QUIET_AFTER, standing.late_before(now), now - stale_after())


def grouped(number: int) -> str:
    """Write an integer exactly, in groups of three digits."""
    return f"{number:,}".replace(",", "\N{NARROW NO-BREAK SPACE}")
