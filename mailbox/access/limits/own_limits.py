"""The limits that agents have of their own.

The limits of waits and rates are as this process read them a short while ago, so that no request looks them up.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Mapping

from django.conf import settings
from django.db.models import Q

from mailbox.models import SenderStock

READ_EVERY = 10.0  # seconds
# The column of each limit in `SenderStock`, and the setting for agents without a limit of their own, by its name.
LIMITS: Mapping[str, tuple[str, str]] = {
    "queued": ("max_queued", "A2A_QUOTA_QUEUED"),
    "bytes": ("max_size", "A2A_QUOTA_BYTES"),
    "callbacks": ("max_callbacks", "A2A_QUOTA_CALLBACKS"),
    "waits": ("max_waits", "A2A_QUOTA_WAITS"),
    "cards": ("max_cards", "A2A_QUOTA_CARDS"),
    "requests_per_s": ("max_requests_per_s", "A2A_AGENT_REQUESTS_PER_S"),
}


def default(name: str) -> int:
    """Return the limit of agents without a limit of their own."""
    setting: int = getattr(settings, LIMITS[name][1])
    return setting


class _OwnLimits:
    """The waits and the requests a second of each agent that has one of them of its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_agent: Mapping[int, tuple[int | None, int | None]] = {}
        self._read_at = -math.inf

    def of(self, agent: int) -> tuple[int | None, int | None]:
        """Return both limits of an agent; None for the setting."""
        now = time.monotonic()
        if now - self._read_at >= READ_EVERY:
            with self._lock:
                if now - self._read_at >= READ_EVERY:
                    self._read_at = now
                    self._by_agent = self._read()
        return self._by_agent.get(agent, (None, None))

    def _read(self) -> Mapping[int, tuple[int | None, int | None]]:
        own = SenderStock.objects.filter(Q(max_waits__isnull=False) | Q(max_requests_per_s__isnull=False))
        return {stock.pk: (stock.max_waits, stock.max_requests_per_s) for stock in own}

    def clear(self) -> None:
        self._read_at = -math.inf


_own = _OwnLimits()
forget = _own.clear


def waits(agent: int) -> int:
    """Return how many waiting requests the agent may have in one process."""
    own = _own.of(agent)[0]
    return default("waits") if own is None else own


def requests_per_s(agent: int) -> int:
    """Return how many requests a second the agent may send; 0 for any number."""
    own = _own.of(agent)[1]
    return default("requests_per_s") if own is None else own
