"""Durations and times: as text for people, and as milliseconds for programs."""

import re
from datetime import datetime, time, timedelta

MOST_MS = 2**53  # the largest number of milliseconds in a request: far longer than any real duration
LONGEST_WAIT_MS = 600_000  # that a request may name; the hub may hold it for less
LONGEST = timedelta(days=365_000)
LONGEST_MS = LONGEST // timedelta(milliseconds=1)
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_TIME = re.compile(r"\d\d:\d\d(:\d\d)?")
_SPAN = re.compile(r"(\d{1,9})\s*([smhd])")


def parse(text: str) -> timedelta | None:
    """Read ``90s``, ``5m``, ``2h`` or ``1d``. None: the text is no such duration."""
    match = _SPAN.fullmatch(text.strip().lower())
    if match is None:
        return None
    seconds = int(match[1]) * _UNITS[match[2]]
    return timedelta(seconds=seconds) if seconds <= 10**9 else None


def parse_range(text: str, now: datetime) -> tuple[datetime, datetime | None] | None:
    """Read a range such as ``02:14..02:15`` or ``2026-01-31T02:14Z..``; return its start and its end, excluded.

    The end may be left out; it is then None. A time without a zone has the zone of ``now``. A time without a date is
    the last such time before or at ``now``. None: the text is no such range.
    """
    first, dots, last = text.strip().partition("..")
    start, end = _moment(first, now), _moment(last, now) if last else None
    if not dots or start is None or (last and (end is None or end < start)):
        return None
    return start, end


def _moment(text: str, now: datetime) -> datetime | None:
    try:
        if _TIME.fullmatch(text):
            moment = datetime.combine(now.date(), time.fromisoformat(text), now.tzinfo)
            return moment if moment <= now else moment - timedelta(days=1)
        moment = datetime.fromisoformat(text)
        if not 1970 <= moment.year < 9999:
            return None
        return moment if moment.tzinfo else moment.replace(tzinfo=now.tzinfo)
    except (ValueError, OverflowError):
        return None


def write(span: timedelta) -> str:
    """Write a duration in its two largest units, such as ``4 m 12 s``. A negative duration is ``0 s``."""
    seconds = max(0, int(span.total_seconds()))
    parts: list[str] = []
    for unit, size in reversed(_UNITS.items()):
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count} {unit}")
        elif parts:
            break
    return " ".join(parts[:2]) or "0 s"


def from_ms(milliseconds: int | None) -> timedelta | None:
    """Return the duration of that many milliseconds, at most `LONGEST`; None for None."""
    return None if milliseconds is None else min(timedelta(milliseconds=milliseconds), LONGEST)


def to_ms(span: timedelta | None) -> int | None:
    """Return a duration in whole milliseconds; None for None."""
    return None if span is None else span // timedelta(milliseconds=1)


def epoch_ms(moment: datetime) -> int:
    """Return ``moment`` in whole Unix epoch milliseconds."""
    return int(moment.timestamp() * 1000)
