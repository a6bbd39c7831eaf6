"""Times and spans as people write and read them."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone

MILLISECOND = timedelta(milliseconds=1)
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_SPAN = re.compile(r"(?:\d+(?:\.\d+)?[smhd])+")
_PART = re.compile(r"(\d+(?:\.\d+)?)([smhd])")


def span(text: str) -> timedelta:
    """Read a span such as 90s, 5m, 2h or 1d12h. Raises `ValueError`."""
    if not _SPAN.fullmatch(text):
        raise ValueError(f'"{text}" is no length of time. Examples: 90s, 5m, 2h, 1d12h.')
    try:
        return timedelta(seconds=sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(text)))
    except OverflowError:
        raise ValueError(f'"{text}" is too long a time') from None


def moment(text: str) -> datetime:
    """Read a time in ISO 8601, or a span from now on. Raises `ValueError`."""
    found_span = span(text) if _SPAN.fullmatch(text) else None
    try:
        if found_span is not None:
            return datetime.now(timezone.utc) + found_span
        found = datetime.fromisoformat(text.replace("Z", "+00:00"))
        return found if found.tzinfo else found.astimezone()
    except OverflowError:
        raise ValueError(f'"{text}" is too far away') from None
    except ValueError:
        raise ValueError(
            f'"{text}" is no time. Examples: 2030-01-31T12:00:00Z, or 2h for two hours from now.'
        ) from None


def short(seconds: float) -> str:
    """Return a span in one or two units, such as 12s, 5m or 3h 10m."""
    whole = max(0, int(seconds))
    for name, unit, smaller, small in (("d", 86_400, "h", 3600), ("h", 3600, "m", 60)):
        if whole >= unit:
            rest = whole % unit // small
            return f"{whole // unit}{name} {rest}{smaller}" if rest else f"{whole // unit}{name}"
    return f"{whole // 60}m" if whole >= 60 else f"{whole}s"


def age(ms: int | None) -> str:
    """Return how long ago an epoch time in milliseconds was, or how far it is in the future. "" for None."""
    if ms is None:
        return ""
    seconds = datetime.now(timezone.utc).timestamp() - ms / 1000
    return short(seconds) if seconds >= 0 else f"in {short(-seconds)}"


def local(ms: int | None) -> str:
    """Return an epoch time in milliseconds as local time, "" for None. After the year 9999 it is a distance."""
    if ms is None:
        return ""
    try:
        return f"{datetime.fromtimestamp(ms / 1000, timezone.utc).astimezone():%Y-%m-%d %H:%M:%S}"
    except (OverflowError, ValueError, OSError):
        return age(ms)


def is_past(ms: int) -> bool:
    """Whether an epoch time in milliseconds has passed."""
    return ms / 1000 < datetime.now(timezone.utc).timestamp()


def now_ms() -> int:
    """Return the time in Unix epoch milliseconds."""
    return int(datetime.now(timezone.utc).timestamp() * 1000)
