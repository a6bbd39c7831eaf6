"""The verb that gives an agent quotas of its own."""

from __future__ import annotations

from collections.abc import Mapping

from django.utils import timezone

from mailbox.access import audit, capabilities
from mailbox.access.audit import Journal
from mailbox.access.callers import Caller
from mailbox.access.limits import own_limits
from mailbox.access.requests import Request
from mailbox.journal import entries
from mailbox.models import Agent, PairStock, SenderStock
from mailbox.words.errors import InvalidRequestError

LARGEST = 2**31 - 1  # of every quota but that of bytes
LARGEST_BYTES = 2**62


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
    own_limits.forget()


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
    journal: Journal,
    *,
    agent: str,
    recipient: str | None,
) -> None:
    column = own_limits.LIMITS[name][0]
    before = getattr(stock, column)
    if before != limit:
        setattr(stock, column, limit)
        journal.beside(entries.quota_changed(name, agent, recipient=recipient, before=before, limit=limit))


def _check(limits: Mapping[str, int | None], recipient: Agent | None) -> None:
    if not limits:
        raise InvalidRequestError({"body": f"must have at least one of {', '.join(own_limits.LIMITS)}"})
    problems = {}
    for name, limit in limits.items():
        most = LARGEST_BYTES if name == "bytes" else LARGEST
        if name not in own_limits.LIMITS:
            problems[name] = f"is no quota; the quotas are {', '.join(own_limits.LIMITS)}"
        elif limit is not None and not 0 <= limit <= most:
            problems[name] = f"must be between 0 and {most}"
        elif recipient is not None and name != "queued":
            problems["recipient"] = "goes with the quota of queued tasks alone"
    if problems:
        raise InvalidRequestError(problems)
