"""The limits that agents have of their own, and the verb that sets them.

The limits of waits and rates are as this process read them a short while ago, so that no request looks them up.
"""

import math
import threading
import time
from collections.abc import Mapping

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from mailbox.access import audit, capabilities
from mailbox.access.callers import Caller
from mailbox.access.requests import Request
from mailbox.journal import hub_entries
from mailbox.models import Agent, PairStock, SenderStock
from mailbox.words.errors import InvalidRequestError

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
LARGEST = 2**31 - 1  # of every quota but that of bytes
LARGEST_BYTES = 2**62


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


def set_quotas(
    caller: Caller, agent: Agent, limits: Mapping[str, int | None], *, recipient: Agent | None = None
) -> None:
    """Give an agent quotas of its own, all of them or none.

    ``limits`` has the quotas by name, as `own_limits.LIMITS` has them. None restores the setting. With a ``recipient``,
    the one quota is ``queued``, and counts the tasks to that recipient. Needs ``a2a.agents.profile``. Raises
    `InvalidRequestError` and `CapabilityMissingError`. Locks the row of stock. Journals ``a2a_quota_changed`` for each
    quota that changes. Other processes follow new waits and rates within `own_limits.READ_EVERY` seconds.
    """
    _check(limits, recipient)
    with audit.decision(caller) as journal:
        journal.admit(Request.to_set_quota(agent))
        stock: SenderStock | PairStock
        if recipient is None:
            stock, _ = SenderStock.objects.select_for_update().get_or_create(agent_id=agent.pk)
        else:
            pairs = PairStock.objects.select_for_update()
            stock, _ = pairs.get_or_create(sender_id=agent.pk, recipient_id=recipient.pk)
        to = None if recipient is None else recipient.display
        for name, limit in limits.items():
            _change(stock, name, limit, journal, agent=agent.display, recipient=to)
        stock.save()
    forget()


def check_reader(caller: Caller, agent: Agent) -> None:
    """Raise `CapabilityMissingError` for a caller that may not read the agent's quotas. Journals nothing.

    People and the agent itself may read them.
    """
    if caller.role is None and caller.agent != agent:
        capabilities.require(caller, Request.to_set_quota(agent), timezone.now())


def _change(
    stock: SenderStock | PairStock,
    name: str,
    limit: int | None,
    journal: audit.Journal,
    *,
    agent: str,
    recipient: str | None,
) -> None:
    column = LIMITS[name][0]
    before = getattr(stock, column)
    if before != limit:
        setattr(stock, column, limit)
        journal.beside(hub_entries.QuotaChangedEntry(name, agent, recipient=recipient, before=before, limit=limit))


def _check(limits: Mapping[str, int | None], recipient: Agent | None) -> None:
    if not limits:
        raise InvalidRequestError({"body": f"must have at least one of {', '.join(LIMITS)}"})
    problems = {}
    for name, limit in limits.items():
        most = LARGEST_BYTES if name == "bytes" else LARGEST
        if name not in LIMITS:
            problems[name] = f"is no quota; the quotas are {', '.join(LIMITS)}"
        elif limit is not None and not 0 <= limit <= most:
            problems[name] = f"must be between 0 and {most}"
        elif recipient is not None and name != "queued":
            problems["recipient"] = "goes with the quota of queued tasks alone"
    if problems:
        raise InvalidRequestError(problems)
