"""Quotas: what one agent may have in store at the hub.

Each count is an upper bound in `SenderStock` or `PairStock`, which a send raises under the lock of its row. If a bound
has reached its quota, the send counts the true stock and stores that count. So no other verb has to subtract, and the
counts cannot drift. A task that returns to the queue is never refused, so a queue may exceed its quota by such tasks.
"""

import math
import threading
import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
from django.db import models, transaction
from django.db.models import F, OuterRef, Q, Subquery, Sum
from django.db.models.expressions import RawSQL
from django.db.models.functions import Coalesce, Greatest

from mailbox.access.limits import rates
from mailbox.database import write_turns
from mailbox.journal import hub_entries
from mailbox.models import Agent, AuditEvent, Lease, PairStock, PushDelivery, SenderStock, Task
from mailbox.models.task import TaskQuerySet
from mailbox.words.envelopes import AgentRef
from mailbox.words.errors import Allowance, QuotaExceededError
from mailbox.words.kinds import Kind

COUNTED_AGAIN_AFTER = 1.0  # seconds
BYTES_COUNTED_AGAIN_AFTER = 10.0  # seconds; a sender may have a million finished tasks
MOST_REMEMBERED = 10_000
SHARE_OF_A_SITE = 4  # strangers at one site may have one of so many queued tasks of a pair
GROWN_AT_ONCE = 1_048_576  # bytes of results of one sender in one process


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """One quota of a row of stock.

    ``field`` is the column of its count, and ``own`` that of the row's own quota. ``amount`` is what a task adds.
    ``count`` returns the true stock without that task, and may stop at a limit.
    """

    name: str
    things: str
    setting: str
    field: str
    own: str
    amount: Callable[[Task], int]
    count: Callable[[Task, int], int]
    counted_again_after: float = COUNTED_AGAIN_AFTER

    @property
    def default(self) -> int:
        most: int = getattr(settings, self.setting)
        return most

    def limit(self, stock: models.Model) -> int:
        """Return the quota of this row: its own one, or the setting."""
        own: int | None = getattr(stock, self.own)
        return self.default if own is None else own

    def admits(self, task: Task) -> Q:
        """Return the condition on a row whose count may be raised by the task."""
        limit = Coalesce(F(self.own), self.default) - self.amount(task)
        return Q((f"{self.field}__lte", limit))


def queued_by(sender: int, **wanted: int) -> TaskQuerySet:
    """Return the sender's queued tasks. With the state as a parameter, SQLite could not use its index."""
    queued = RawSQL("mailbox_task.state = 'queued'", (), models.BooleanField())
    return Task.objects.filter(queued, sender=sender, **wanted).order_by()


def callbacks_of(sender: int, *, but: int) -> int:
    """Return the number of a sender's callbacks that are due or to come, without that of the task with key ``but``."""
    due = PushDelivery.objects.filter(sender=sender, state=PushDelivery.State.PENDING)
    queued = queued_by(sender).filter(calls_back=True).exclude(pk=but)
    interrupted = Task.objects.filter(state=Task.State.INTERRUPTED, sender=sender, calls_back=True)
    leased = Lease.objects.live().filter(task__sender=sender, task__calls_back=True)
    return due.count() + queued.count() + interrupted.count() + leased.count()


def _count_bytes(task: Task, most: int) -> int:
    return Task.objects.filter(sender=task.sender_id).exclude(pk=task.pk).aggregate(size=Sum("size"))["size"] or 0


QUEUED = Quota(
    name="queued",
    things="queued tasks",
    setting="A2A_QUOTA_QUEUED",
    field="queued",
    own="max_queued",
    amount=lambda task: 1,
    count=lambda task, most: queued_by(task.sender_id).exclude(pk=task.pk)[:most].count(),
)
QUEUED_OF_PAIR = replace(
    QUEUED,
    name="queued_to_one",
    things="queued tasks for this recipient",
    setting="A2A_QUOTA_QUEUED_TO_ONE",
    count=lambda task, most: queued_by(task.sender_id, recipient=task.recipient_id).exclude(pk=task.pk)[:most].count(),
)
BYTES = Quota(
    name="bytes",
    things="bytes of tasks",
    setting="A2A_QUOTA_BYTES",
    field="size",
    own="max_size",
    amount=lambda task: task.size,
    count=_count_bytes,
    counted_again_after=BYTES_COUNTED_AGAIN_AFTER,
)
CALLBACKS = Quota(
    name="callbacks",
    things="pending callbacks",
    setting="A2A_QUOTA_CALLBACKS",
    field="callbacks",
    own="max_callbacks",
    amount=lambda task: int(task.calls_back),
    count=lambda task, most: callbacks_of(task.sender_id, but=task.pk),
)
OF_A_SENDER = (QUEUED, BYTES, CALLBACKS)


def take(task: Task) -> None:
    """Count a task in the transaction that has inserted it; raise `QuotaExceededError` if it exceeds a quota.

    Locks the stock of the pair, then that of the sender, until the transaction ends. The fast form of a send takes the
    same locks in the same order.
    """
    pair = {"sender_id": task.sender_id, "recipient_id": task.recipient_id}
    _raise(PairStock.objects.filter(**pair), pair, (QUEUED_OF_PAIR,), task)
    sender = {"agent_id": task.sender_id}
    _raise(SenderStock.objects.filter(**sender), sender, OF_A_SENDER, task)


def check_site(sender: int, recipient: AgentRef, address: str, of: str) -> None:
    """Raise `QuotaExceededError` if strangers at the site of ``address`` have a share of the pair's queue.

    The journal tells from where each queued task came. Racing sends of one site may exceed the share by their number.
    """
    by = {"recipient__pubkey": recipient.pubkey} if recipient.pubkey else {"recipient__display": recipient.display}
    sent = AuditEvent.objects.filter(task_id=OuterRef("uuid"), kind=Kind.TASK_SENT.value).order_by()
    addresses = queued_by(sender).filter(**by).values_list(Subquery(sent.values("address")[:1]), flat=True)
    share, site = max(1, QUEUED_OF_PAIR.default // SHARE_OF_A_SITE), rates.site_of(address)
    if sum(rates.site_of(one or "") == site for one in addresses) >= share:
        things = "queued tasks of strangers at one network for this recipient"
        raise exceeded("queued_of_network", things, share, retry_after=COUNTED_AGAIN_AFTER, of=of)


def take_words(task: Task, size: int) -> None:
    """Count ``size`` bytes that a sender adds to its task, before the task grows. Raises as `take`, locks its stock."""
    before = task.size
    words = replace(BYTES, amount=lambda _: size, count=lambda task, most: _count_bytes(task, most) + before)
    _raise(SenderStock.objects.filter(agent=task.sender_id), {"agent_id": task.sender_id}, (words,), task)


def _raise(rows: models.QuerySet[Any], key: Mapping[str, int], quotas: tuple[Quota, ...], task: Task) -> None:
    """Raise the counts of the row by the task."""
    more = {quota.field: F(quota.field) + quota.amount(task) for quota in quotas}
    if rows.filter(*(quota.admits(task) for quota in quotas)).update(**more):
        return
    stock, _ = rows.model._default_manager.select_for_update().get_or_create(**key)
    for quota in quotas:
        amount, limit = quota.amount(task), quota.limit(stock)
        if amount and getattr(stock, quota.field) + amount > limit:
            setattr(stock, quota.field, _true_count(quota, task, limit, tuple(key.values())))
    stock.save(update_fields=list(more))
    rows.update(**more)


def _true_count(quota: Quota, task: Task, limit: int, key: Hashable) -> int:
    """Return the true stock; raise `QuotaExceededError` if the task exceeds the quota.

    A refusal counts for a while, so that a sender at its quota does not make the hub count at each of its requests.
    """
    known, amount = (quota.name, key), quota.amount(task)
    if amount <= limit and not _full.has(known):
        count = quota.count(task, limit)
        if count + amount <= limit:
            return count
        _full.add(known, quota.counted_again_after)
    wait, of = quota.counted_again_after, task.sender.display
    raise exceeded(quota.name, quota.things, limit, retry_after=wait, of=of, adds=amount)


def exceeded(name: str, things: str, limit: int, *, retry_after: float, of: str, adds: int = 0) -> QuotaExceededError:
    """Return the error of the agent or person ``of`` at its quota, with its journal row. It ``adds`` things."""
    advice = f"This request adds {adds}. Ask" if adds > limit else "Wait until there are fewer, or ask"
    return QuotaExceededError(
        f"{of} has reached its quota of {limit} {things}. {advice} an operator for more.",
        is_too_large=adds > limit,
        allowance=Allowance(policy=name, quota=limit, window=None, remaining=0, reset=math.ceil(retry_after)),
        entry=hub_entries.QuotaExceededEntry(name, of, limit),
    )


def own_cards(agent: Agent) -> int:
    """Lock the agent's stock until the transaction ends, and return how many job cards the agent may have."""
    stock, _ = SenderStock.objects.select_for_update().get_or_create(agent_id=agent.pk)
    return settings.A2A_QUOTA_CARDS if stock.max_cards is None else stock.max_cards


def grow(sender: int, size: int) -> None:
    """Add to the bytes of a sender for what others stored with its tasks. They are not refused for its quota."""
    SenderStock.objects.filter(agent=sender).update(size=F("size") + size)


def grow_by_result(sender: int, size: int) -> None:
    """Remember the bytes of a stored result until `store_grown` adds them. A result is never refused for a quota."""
    _grown.add(sender, size)


def store_grown() -> None:
    """Add the remembered bytes of results to the stock of each sender with at least `GROWN_AT_ONCE` of them.

    So a result costs no statement on the row that all sends of its sender lock. A process that dies forgets less than
    that for each sender, and the bytes of one more result. Bytes that the database did not take are remembered again.
    Call it outside a transaction.
    """
    while grown := _grown.taken():
        try:
            with write_turns.turn():
                grow(*grown)
        except Exception:
            _grown.add(*grown)
            raise


def give_back(sizes: Mapping[int, int]) -> None:
    """Subtract the bytes of deleted tasks, by the key of their sender, after they were deleted.

    If the process dies before, the counts stay upper bounds, and a sender at its quota has them counted again.
    """
    if not any(sizes.values()):
        return
    with write_turns.turn(), transaction.atomic():
        for sender, size in sorted(sizes.items()):
            SenderStock.objects.filter(agent=sender).update(size=Greatest(F("size") - size, 0))


class _Remembered:
    """Stocks that were at their quota when they were counted last, for a while, in this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._until: dict[Hashable, float] = {}

    def add(self, key: Hashable, seconds: float) -> None:
        with self._lock:
            self._until.pop(key, None)
            self._until[key] = time.monotonic() + seconds
            if len(self._until) > MOST_REMEMBERED:
                del self._until[next(iter(self._until))]

    def has(self, key: Hashable) -> bool:
        return self._until.get(key, -math.inf) > time.monotonic()

    def clear(self) -> None:
        with self._lock:
            self._until.clear()


class _Grown:
    """The bytes of results that are in no stock yet, by the key of their sender."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sizes: dict[int, int] = {}
        self._due: set[int] = set()

    def add(self, sender: int, size: int) -> None:
        with self._lock:
            self._sizes[sender] = grown = self._sizes.get(sender, 0) + size
            if grown >= GROWN_AT_ONCE:
                self._due.add(sender)

    def taken(self) -> tuple[int, int] | None:
        """Forget and return a sender that is due, with its bytes; None if no sender is due."""
        if not self._due:
            return None
        with self._lock:
            return ((sender := self._due.pop()), self._sizes.pop(sender)) if self._due else None

    def clear(self) -> None:
        with self._lock:
            self._sizes.clear()
            self._due.clear()


_full = _Remembered()
_grown = _Grown()


def forget() -> None:
    """Count each stock again at its next refusal, as a new process does."""
    _full.clear()
    _grown.clear()
