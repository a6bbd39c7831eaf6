"""The verb that gives an agent quotas of its own."""

from __future__ import annotations

from mailbox.gate import audit, entries, own_limits
from mailbox.gate.callers import Caller
from mailbox.gate.requests import Request
from mailbox.models import Agent, PairStock, SenderStock
from mailbox.words.errors import InvalidRequestError

LARGEST = 2**31 - 1  # of every quota but that of bytes
LARGEST_BYTES = 2**62


def set_quota(caller: Caller, agent: Agent, name: str, limit: int | None, *, recipient: Agent | None = None) -> bool:
    """Give an agent a quota of its own; return whether anything changed. ``limit`` None restores the setting.

    ``name`` is one of `own_limits.LIMITS`. With a ``recipient``, ``name`` is ``queued``, and the quota is for tasks
    to that recipient. Needs ``a2a.agents.profile``. Raises `InvalidRequestError` and `CapabilityMissingError`. Locks
    the row of stock. Journals ``a2a_quota_changed``. Other processes learn of new waits and rates within
    `own_limits.READ_EVERY` seconds.
    """
    _check(name, limit, recipient)
    with audit.decision(caller) as journal:
        journal.admit(Request.to_set_quota(agent))
        stock: SenderStock | PairStock
        if recipient is None:
            stock, _ = SenderStock.objects.select_for_update().get_or_create(agent_id=agent.pk)
        else:
            pairs = PairStock.objects.select_for_update()
            stock, _ = pairs.get_or_create(sender_id=agent.pk, recipient_id=recipient.pk)
        column = own_limits.LIMITS[name][0]
        before = getattr(stock, column)
        if before == limit:
            return False
        setattr(stock, column, limit)
        stock.save(update_fields=[column])
        to = None if recipient is None else recipient.display
        journal.beside(entries.quota_changed(name, agent.display, recipient=to, before=before, limit=limit))
    own_limits.forget()
    return True


def _check(name: str, limit: int | None, recipient: Agent | None) -> None:
    if name not in own_limits.LIMITS:
        raise InvalidRequestError({"quota": f"must be one of {', '.join(own_limits.LIMITS)}"})
    if recipient is not None and name != "queued":
        raise InvalidRequestError({"recipient": "goes with the quota of queued tasks alone"})
    most = LARGEST_BYTES if name == "bytes" else LARGEST
    if limit is not None and not 0 <= limit <= most:
        raise InvalidRequestError({"limit": f"must be between 0 and {most}"})
