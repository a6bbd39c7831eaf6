"""How long things take, as counts in fixed buckets: small enough to keep by the minute, added up without loss."""

from __future__ import annotations

import json
import math
from collections import Counter
from datetime import timedelta
from typing import Self

PER_DOUBLING = 4  # buckets between a span and twice that span, so a quantile is at most a tenth off
_MS = timedelta(milliseconds=1)


class Latencies:
    """How many spans fell into each bucket. Bucket 0 holds spans under 1 ms, bucket n those under 2^(n/4) ms."""

    __slots__ = ("_counts",)

    def __init__(self, text: str = "{}") -> None:
        """Read what `as_text` wrote."""
        self._counts: Counter[int] = Counter({int(bucket): count for bucket, count in json.loads(text or "{}").items()})

    def __iadd__(self, other: Latencies) -> Self:
        self._counts.update(other._counts)
        return self

    def __len__(self) -> int:
        """How many spans there are."""
        return self._counts.total()

    def note(self, span: timedelta) -> None:
        """Count one span; a negative one, from clocks apart, is none at all long."""
        milliseconds = span / _MS
        self._counts[0 if milliseconds < 1 else 1 + math.floor(math.log2(milliseconds) * PER_DOUBLING)] += 1

    def quantile(self, share: float) -> timedelta | None:
        """Return about how long the span is that ``share`` of all do not exceed; None when there is none."""
        rank, passed = share * len(self), 0
        for bucket, count in sorted(self._counts.items()):
            passed += count
            if passed >= rank:
                return _MS * (2 ** ((bucket - 0.5) / PER_DOUBLING)) if bucket else _MS / 2
        return None

    def as_text(self) -> str:
        """Return the counts as a JSON object, bucket by bucket."""
        return json.dumps({str(bucket): count for bucket, count in sorted(self._counts.items())}, separators=(",", ":"))
