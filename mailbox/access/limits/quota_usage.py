"""The quotas of one agent, and how much of each it uses."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mailbox.access.limits import own_limits, quotas, waits
from mailbox.models import Agent, PairStock, SenderStock

MOST_PAIRS = 20
COUNTED_FROM = 80  # percent of a quota; below it an upper bound is shown as it is
NAMED: Mapping[str, str] = {
    "queued": "queued tasks it sent",
    "bytes": "bytes of tasks",
    "callbacks": "pending callbacks",
    "waits": "waiting requests per process",
    "cards": "job cards",
    "requests_per_s": "requests per second",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """The use of one quota.

    ``used`` is None for a rate. ``is_own`` is whether the agent has this quota of its own, and not by the setting.
    ``recipient`` is the display of the recipient of a pair's quota, "" for the quota of all recipients.
    """

    name: str
    used: int | None
    limit: int
    is_own: bool
    recipient: str = ""

    @property
    def what(self) -> str:
        return f"queued tasks for {self.recipient}" if self.recipient else NAMED[self.name]

    @property
    def percent(self) -> int | None:
        """The used share, rounded up; None for a rate."""
        return None if self.used is None else _percent(self.used, self.limit)


def usage_of(agent: Agent, *, cards: int) -> Sequence[Usage]:
    """Return the use of each quota of the agent, and of up to `MOST_PAIRS` quotas of its pairs.

    ``cards`` is the number of its job cards. The waits are those of this process. The bytes are approximate. The
    callbacks are an upper bound below `COUNTED_FROM`.
    """
    stock = next(iter(_stocks([agent])), None) or SenderStock(agent_id=agent.pk)
    limits = {name: getattr(stock, column) for name, (column, _) in own_limits.LIMITS.items()}
    most = {name: own_limits.default(name) if own is None else own for name, own in limits.items()}
    used: Mapping[str, int | None] = {
        "queued": _queued(agent.pk, most["queued"]),
        "bytes": stock.size,
        "callbacks": _used(stock, "callbacks", most["callbacks"]),
        "waits": waits.live(agent.pk),
        "cards": cards,
        "requests_per_s": None,
    }
    own = [
        Usage(name=name, used=used[name], limit=most[name], is_own=limit is not None) for name, limit in limits.items()
    ]
    return own + _of_pairs(agent)


def _of_pairs(agent: Agent) -> list[Usage]:
    """Return the pairs that have a quota of their own."""
    limited = PairStock.objects.filter(sender=agent, max_queued__isnull=False).select_related("recipient")
    return [
        Usage(
            name="queued",
            used=_queued(agent.pk, pair.max_queued or 0, recipient=pair.recipient_id),
            limit=pair.max_queued or 0,
            is_own=True,
            recipient=pair.recipient.display,
        )
        for pair in limited.order_by("recipient__display")[:MOST_PAIRS]
    ]


def _stocks(agents: Sequence[Agent]) -> Iterable[SenderStock]:
    return SenderStock.objects.filter(agent__pk__among=[agent.pk for agent in agents])


def _queued(sender: int, limit: int, **wanted: int) -> int:
    """Return the number of the sender's queued tasks with these fields, at most one more than the limit."""
    return quotas.queued_by(sender, **wanted)[: limit + 1].count()


def fullest(agents: Sequence[Agent]) -> Mapping[int, int]:
    """Return the used share of the fullest stock of each agent in percent, by its key.

    Shares below `COUNTED_FROM` are upper bounds.
    """
    shares: dict[int, int] = {}
    for stock in _stocks(agents) if agents else ():
        shares[stock.pk] = 0
        for name in ("queued", "bytes", "callbacks"):
            own: int | None = getattr(stock, own_limits.LIMITS[name][0])
            limit = own_limits.default(name) if own is None else own
            shares[stock.pk] = max(shares[stock.pk], _percent(_used(stock, name, limit), limit))
    return shares


def _used(stock: SenderStock, name: str, limit: int) -> int:
    """Return the count of a quota: the stored bound, or from `COUNTED_FROM` on the true count of tasks or callbacks.

    The bound rises with each send until it reaches the quota, although the tasks have ended. So a full bound alone
    tells nothing.
    """
    bound = {"queued": stock.queued, "bytes": stock.size, "callbacks": stock.callbacks}[name]
    if name == "bytes" or _percent(bound, limit) < COUNTED_FROM:
        return bound
    if name == "queued":
        return _queued(stock.pk, limit)
    return quotas.callbacks_of(stock.pk, but=0)


def _percent(used: int, limit: int) -> int:
    """Return the used share, rounded up."""
    return 100 if used >= limit else -(-100 * used // limit)
