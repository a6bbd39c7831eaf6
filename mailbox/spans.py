"""Spans of time, as people write and read them."""

from __future__ import annotations

import re
from datetime import timedelta

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_SPAN = re.compile(r"(\d{1,9})\s*([smhd])")


def parse(text: str) -> timedelta | None:
    """Read ``90s``, ``5m``, ``2h`` or ``1d``; None for anything else."""
    match = _SPAN.fullmatch(text.strip().lower())
    if match is None:
        return None
    seconds = int(match[1]) * _UNITS[match[2]]
    return timedelta(seconds=seconds) if seconds <= 10**9 else None


def write(span: timedelta) -> str:
    """Write a span in its two largest units, such as ``4 m 12 s``; a negative one, from clocks apart, is ``0 s``."""
    seconds = max(0, int(span.total_seconds()))
    parts: list[str] = []
    for unit, size in reversed(_UNITS.items()):
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count} {unit}")
        elif parts:
            break
    return " ".join(parts[:2]) or "0 s"
