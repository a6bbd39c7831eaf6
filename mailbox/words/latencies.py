"""Histograms of durations in fixed buckets: small enough to store one per minute, and exact to add up."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable
from datetime import timedelta
from typing import Self

PER_DOUBLING = 4  # buckets per doubling of the duration, so that a quantile is at most 10 % off
_MS = timedelta(milliseconds=1)


class Latencies:
    """Counts of durations by bucket. Bucket 0 is for durations under 1 ms, bucket n for 2^((n-1)/4) to 2^(n/4) ms."""

    __slots__ = ("_counts",)

    def __init__(self, text: str = "{}") -> None:
        """Read the counts from text of `as_text`."""
        self._counts: Counter[int] = Counter({int(bucket): count for bucket, count in json.loads(text or "{}").items()})

    @classmethod
    def of(cls, texts: Iterable[str]) -> Self:
        """Read the texts of `as_text` and add them up, faster than one by one."""
        counts: dict[str, int] = {}
        for one in json.loads(f"[{','.join(text for text in texts if text not in ('', '{}'))}]"):
            for bucket, count in one.items():
                counts[bucket] = counts.get(bucket, 0) + count
        latencies = cls.__new__(cls)
        latencies._counts = Counter({int(bucket): count for bucket, count in counts.items()})
        return latencies

    def __iadd__(self, other: Latencies) -> Self:
        self._counts.update(other._counts)
        return self

    def __len__(self) -> int:
        """Return the number of durations."""
        return self._counts.total()

    def note(self, span: timedelta) -> None:
        """Count one duration. A negative duration, which differing clocks can cause, counts as 0."""
        milliseconds = span / _MS
        self._counts[0 if milliseconds < 1 else 1 + math.floor(math.log2(milliseconds) * PER_DOUBLING)] += 1

    def quantile(self, share: float) -> timedelta | None:
        """Return the approximate duration that a ``share`` of all does not exceed, None without any durations."""
        rank, passed = share * len(self), 0
        for bucket, count in sorted(self._counts.items()):
            passed += count
            if passed >= rank:
                return _MS * (2 ** ((bucket - 0.5) / PER_DOUBLING)) if bucket else _MS / 2
        return None

    def under(self, bucket: int) -> int:
        """Return the number of durations under 2^(``bucket`` / `PER_DOUBLING`) ms."""
        return sum(count for at, count in self._counts.items() if at <= bucket)

    def sum(self) -> timedelta:
        """Return the sum of all durations, at most 10 % off."""
        return _MS * sum(
            count * (2 ** ((bucket - 0.5) / PER_DOUBLING) if bucket else 0.5) for bucket, count in self._counts.items()
        )

    def as_text(self) -> str:
        """Return the counts as a JSON object, by bucket."""
        return json.dumps({str(bucket): count for bucket, count in sorted(self._counts.items())}, separators=(",", ":"))
