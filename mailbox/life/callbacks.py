"""The outbox of callbacks. A callback is written when its task ends, and claimed for one attempt at a time.

Delivery slots share the attempts of a process fairly among senders and receivers. Many callbacks that were given up can
be sent again in one call, each by itself, with one receipt.

Source: Agnostic ADR-018; back-off and signatures after Standard Webhooks.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F, Min, Q, QuerySet
from django.utils import timezone

from mailbox.access import audit
from mailbox.access.callers import Caller
from mailbox.access.requests import Request
from mailbox.database import write_turns
from mailbox.journal import task_entries
from mailbox.models import PushAttempt, PushConfig, PushDelivery, Result, Task
from mailbox.outbound import destinations
from mailbox.outbound.errors import BlockedUrlError
from mailbox.words import json_text, secret_box
from mailbox.words.envelopes import TaskEnvelope, check_reason
from mailbox.words.errors import InvalidRequestError, UnknownDeliveryError
from mailbox.words.push import URL_MAX_LENGTH


class DeliverySlots:
    """The attempts that a process has under way, by sender and by receiver, and how many each may have at once.

    None as a bound allows any number. ``paused`` holds, by receiver, the moment until which it gets no attempt.
    Receivers are spelled as `destinations.receiver` spells them, senders are primary keys.
    """

    def __init__(
        self,
        under_way: Iterable[PushDelivery] = (),
        *,
        per_sender: int | None = None,
        per_receiver: int | None = None,
        paused: Mapping[str, datetime] | None = None,
    ) -> None:
        self.per_sender, self.per_receiver, self.paused = per_sender, per_receiver, paused or {}
        self._senders: Counter[int] = Counter()
        self._receivers: Counter[str] = Counter()
        for delivery in under_way:
            self._count(delivery.sender_id, destinations.receiver(delivery.url))

    def copy(self) -> DeliverySlots:
        same = DeliverySlots(per_sender=self.per_sender, per_receiver=self.per_receiver, paused=self.paused)
        same._senders, same._receivers = self._senders.copy(), self._receivers.copy()
        return same

    def full_senders(self) -> list[int]:
        """Return the senders that may begin no further attempt."""
        return [sender for sender in self._senders if self._is_full(self._senders[sender], self.per_sender)]

    def take(self, sender: int, receiver: str) -> bool:
        """Count an attempt if the sender and the receiver may have one more. Return whether they may."""
        if self._is_full(self._senders[sender], self.per_sender):
            return False
        if self._is_full(self._receivers[receiver], self.per_receiver):
            return False
        self._count(sender, receiver)
        return True

    def _count(self, sender: int, receiver: str) -> None:
        self._senders[sender] += 1
        self._receivers[receiver] += 1

    @staticmethod
    def _is_full(count: int, most: int | None) -> bool:
        return most is not None and count >= most


BACK_OFF = (
    timedelta(seconds=1),
    timedelta(seconds=5),
    timedelta(seconds=30),
    timedelta(minutes=5),
    timedelta(hours=1),
)
REPORT_TIMEOUT = timedelta(minutes=2)  # an attempt without a report is repeated
CLOCKS_DIFFER = timedelta(minutes=5)  # at most, among the machines of a hub
# Due callbacks that one claim looks at: a few first, then many if the first belong to busy senders and receivers.
FIRST_LOOK, LAST_LOOK = 256, 20_000
# Functions that render the body of a callback, by the dialect of its task. The hub fills the table at its start, so
# this module knows no dialect. `OTHERWISE` is the key for dialects without a function.
BODIES: dict[str, Callable[[Task, Result], Mapping[str, Any]]] = {}
OTHERWISE = ""
LOST = "The hub's process ended before it reported; the receiver may have the callback."


@dataclass(frozen=True, slots=True, kw_only=True)
class CallbackOutcome:
    """The outcome of an attempt.

    ``status`` is the receiver's HTTP status, None without an answer. ``problem`` is "" without one. ``timed_out``
    tells that the whole time of the attempt passed without an answer.
    """

    status: int | None
    problem: str = ""
    timed_out: bool = False

    @property
    def is_success(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


def remember(task: Task, envelope: TaskEnvelope) -> None:
    """Store the callback URL and secret of a new task, in the transaction of the send."""
    if envelope.callback_url is not None:
        secret = envelope.callback_secret
        PushConfig.objects.create(
            task=task, url=envelope.callback_url, sealed_secret=secret_box.seal(secret) if secret else None
        )


def is_repeated(task: Task, envelope: TaskEnvelope) -> bool:
    """Whether ``envelope`` has the same callback as ``task``, or both have none."""
    of_task = PushConfig.objects.filter(task=task, protocol=PushConfig.Protocol.CALLBACK)
    known = of_task.first() if task.calls_back else None
    if known is None or envelope.callback_url is None:
        return known is None and envelope.callback_url is None
    try:
        secret = target(known)[1]
    except secret_box.UnreadableSecretError:  # the secrets cannot be compared
        secret = envelope.callback_secret
    return (known.url, secret) == (envelope.callback_url, envelope.callback_secret)


def target(config: PushConfig | None) -> tuple[str | None, str | None]:
    """Return the URL and the secret of a task's callback, None for what is missing; raise `UnreadableSecretError`."""
    if config is None:
        return None, None
    return config.url, secret_box.unseal(config.sealed_secret) if config.sealed_secret else None


def enqueue(task: Task, result: Result, now: datetime) -> None:
    """Write the callback of a resolved task, in the transaction that resolves it."""
    if not task.calls_back:
        return
    config = PushConfig.objects.get(task=task, protocol=PushConfig.Protocol.CALLBACK)
    PushDelivery.objects.create(
        task_uuid=task.uuid,
        sender_id=task.sender_id,
        url=config.url,
        sealed_secret=config.sealed_secret,
        body=_body(task, result),
        created_at=now,
        next_attempt_at=now,
    )


def claim_due(*, limit: int, slots: DeliverySlots | None = None) -> Sequence[PushDelivery]:
    """Claim up to ``limit`` due callbacks for one attempt each, oldest first. No other process claims them meanwhile.

    A callback is passed over while its sender or its receiver has all the attempts that ``slots`` allows. A callback to
    a paused receiver is put off until the end of the pause. If a process dies during an attempt, the callback is due
    again after two minutes, and the attempt is logged as lost.
    """
    slots = slots or DeliverySlots()
    due_now = PushDelivery.objects.due(timezone.now()).from_senders_but(slots.full_senders())
    columns = ("pk", "sender_id", "url")
    chosen, put_off = fair(due_now.order_by("next_attempt_at", "pk").values_list(*columns), slots, limit)
    if not chosen and not put_off:  # the usual case, which needs no write lock
        return []
    with write_turns.turn(), transaction.atomic(durable=True):
        now = timezone.now()
        due = PushDelivery.objects.due(now).select_for_update(skip_locked=True)
        for until in set(put_off.values()):
            late = due.filter(pk__in=[pk for pk, end in put_off.items() if end == until]).values_list("pk", flat=True)
            PushDelivery.objects.filter(pk__in=list(late)).update(next_attempt_at=until)
        claimed = list(due.filter(pk__in=chosen).order_by("next_attempt_at", "pk"))
        note_lost([delivery for delivery in claimed if delivery.attempts], now)
        for delivery in claimed:
            delivery.attempts += 1
            delivery.next_attempt_at = now + REPORT_TIMEOUT
            delivery.save(update_fields=["attempts", "next_attempt_at"])
    return claimed


def pause_until_due(*, shortest: float, longest: float) -> float:
    """Return the seconds until a callback becomes due, within bounds; the ``shortest`` pause if one is due already."""
    now = timezone.now()
    if PushDelivery.objects.due(now).exists():
        return shortest
    next_at = PushDelivery.objects.due_after(now).aggregate(at=Min("next_attempt_at"))["at"]
    return longest if next_at is None else min(max((next_at - now).total_seconds(), 0.0), longest)


def fair(
    due: QuerySet[Any, tuple[int, int, str]], slots: DeliverySlots, limit: int
) -> tuple[list[int], dict[int, datetime]]:
    """Return the primary keys of the rows to claim, and of those to put off with the end of their pause.

    ``due`` has the primary key, sender and URL of the due rows, in the order in which they are claimed.
    """
    chosen: list[int] = []
    put_off: dict[int, datetime] = {}
    for looked_at in (FIRST_LOOK, LAST_LOOK):
        rows = due[:looked_at]
        chosen, put_off, left = [], {}, slots.copy()
        for pk, sender, url in rows:
            receiver = destinations.receiver(url)
            if receiver in left.paused:
                put_off[pk] = left.paused[receiver]
            elif len(chosen) < limit and left.take(sender, receiver):
                chosen.append(pk)
        if len(chosen) == limit or len(rows) < looked_at:
            break
    return chosen, put_off


def report(delivery: PushDelivery, outcome: CallbackOutcome) -> None:
    """Record the outcome of the claimed attempt.

    After a failure the next attempt is due in 1 s, 5 s, 30 s, 5 min, 1 h, or never.
    """
    with write_turns.turn(), transaction.atomic(durable=True):
        now = timezone.now()
        row = PushDelivery.objects.select_for_update().get(pk=delivery.pk)
        log(row, delivery.attempts, outcome, now)
        if row.state == PushDelivery.State.DELIVERED or row.attempts != delivery.attempts:
            return
        failures = row.attempts - row.forgiven
        if outcome.is_success:
            row.state, row.delivered_at = PushDelivery.State.DELIVERED, now
        elif failures > len(BACK_OFF):
            row.state = PushDelivery.State.DISABLED
        else:
            row.next_attempt_at = now + BACK_OFF[failures - 1]
        row.save(update_fields=["state", "delivered_at", "next_attempt_at"])


def log(row: PushDelivery, number: int, outcome: CallbackOutcome, now: datetime) -> None:
    """Log the outcome of the attempt of this number, in the current transaction."""
    fields = {"at": now, "status": outcome.status, "problem": json_text.storable(outcome.problem)[:2000]}
    PushAttempt.objects.update_or_create(delivery=row, number=number, defaults=fields)


def resend(caller: Caller, delivery_id: UUID, *, reason: str, only_given_up: bool = False) -> PushDelivery:
    """Make a callback due now, with all of its attempts again. Needs ``a2a.push.resend``, which operators hold.

    With ``only_given_up`` a callback in another state raises `InvalidRequestError`. An event of a webhook enables its
    webhook again. Raises `InvalidRequestError` for a blank reason, a capability error, `UnknownDeliveryError`. Raises
    `InvalidRequestError` for an event that arrived, since later events may have arrived too, and for an event of a
    deleted webhook. Locks the webhook, then the callback; journals ``push_resent`` with the reason.
    """
    reason = check_reason(reason)
    with audit.decision(caller) as journal:
        journal.admit(Request.to_resend(delivery_id))
        rows = PushDelivery.objects.filter(delivery_id=delivery_id)
        configs = PushConfig.objects.filter(pk__in=rows.values("config"))
        config = configs.select_for_update().first()  # locked before its delivery, as a report locks it
        row = rows.select_for_update().first()
        if row is None:
            raise UnknownDeliveryError(f"No callback has the id {delivery_id}.", delivery_id=delivery_id)
        if only_given_up and row.state != PushDelivery.State.DISABLED:
            raise InvalidRequestError({"delivery_id": "it is not given up"})
        row.state, row.next_attempt_at, row.forgiven = (
            _pending_again(row, config, journal.now),
            journal.now,
            row.attempts,
        )
        row.save(update_fields=["state", "next_attempt_at", "forgiven"])
        journal.beside(task_entries.PushResentEntry(delivery_id, reason, task_id=row.task_uuid))
    return row


def _pending_again(row: PushDelivery, config: PushConfig | None, now: datetime) -> PushDelivery.State:
    """Return the state of a delivery that is sent again, and enable its webhook again if it has one."""
    if not row.is_of_webhook:
        return PushDelivery.State.PENDING
    if config is None or row.state == PushDelivery.State.DELIVERED:
        problem = "its webhook was deleted" if config is None else "its receiver has it, and perhaps later events"
        raise InvalidRequestError({"delivery_id": problem})
    config.next_attempt_at, config.failures, config.disabled_at = now, 0, None
    config.save(update_fields=["next_attempt_at", "failures", "disabled_at"])
    return PushDelivery.State.TELLING


def bring_back() -> int:
    """Make callbacks due now whose next attempt is planned later than their failures allow. Return their number.

    Their times were taken from a clock that ran ahead.
    """
    now = timezone.now()
    parked = PushDelivery.objects.due_after(now + REPORT_TIMEOUT + CLOCKS_DIFFER).filter(_is_put_off(now))
    if not parked.exists():  # the usual case, which needs no write lock
        return 0
    with write_turns.turn():
        return parked.update(next_attempt_at=now)


def _is_put_off(now: datetime) -> Q:
    """Return whether the next attempt is later than the pause after the attempts so far, or after a lost one."""
    late = [now + max(pause, REPORT_TIMEOUT) + CLOCKS_DIFFER for pause in (timedelta(0), *BACK_OFF)]
    cases = (Q(attempts=F("forgiven") + number, next_attempt_at__gt=moment) for number, moment in enumerate(late))
    # Lost attempts count without an end, and no pause follows them.
    return Q(*cases, Q(attempts__gte=F("forgiven") + len(late), next_attempt_at__gt=late[0]), _connector=Q.OR)


def note_lost(begun: Sequence[PushDelivery], now: datetime) -> None:
    """Log the last attempt of each callback without a report as `LOST`."""
    reported = {(one.delivery_id, one.number) for one in PushAttempt.objects.filter(delivery__in=begun)}
    PushAttempt.objects.bulk_create(
        PushAttempt(delivery=one, number=one.attempts, at=now, problem=LOST)
        for one in begun
        if (one.pk, one.attempts) not in reported
    )


def _body(task: Task, result: Result) -> str:
    """Return the JSON text of a callback. Signatures are made over exactly these characters."""
    render = BODIES.get(task.dialect, BODIES[OTHERWISE])
    return json.dumps(render(task, result))


def judge(callback_url: str | None, *, path: str = "callback_url") -> None:
    """Raise `InvalidRequestError` for a URL that the hub would never call, under its ``path``. None is allowed.

    Only the text of the URL is judged here. The addresses of its host are judged at each attempt.
    """
    if callback_url is None:
        return
    try:
        destinations.judge(callback_url, longest=URL_MAX_LENGTH)
    except BlockedUrlError as error:
        # The message does not repeat the URL, which may contain a secret.
        problem = error.message if error.message.startswith("Blocked URL") else "the hub cannot call this URL"
        raise InvalidRequestError({path: problem}) from error


CAP = 200  # callbacks at once


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkResendReceipt:
    """The ids of the callbacks that are sent again, and of those that were left alone.

    A callback is left alone if it is gone, is no longer given up, or belongs to a deleted webhook.
    """

    sent: Sequence[UUID]
    left: Sequence[UUID]


def resend_given_up(caller: Caller, delivery_ids: Sequence[UUID], *, reason: str) -> BulkResendReceipt:
    """Make the given-up callbacks of these ids due now, at most `CAP`. Needs ``a2a.push.resend``.

    Each is one decision, as `callbacks.resend` makes it. Raises `InvalidRequestError` for a blank reason and for more
    ids, and a capability error at the first callback.
    """
    reason = check_reason(reason)
    if len(delivery_ids) > CAP:
        raise InvalidRequestError({"delivery_id": f"at most {CAP} callbacks are sent again at once"})
    sent: list[UUID] = []
    left: list[UUID] = []
    for delivery_id in dict.fromkeys(delivery_ids):
        try:
            resend(caller, delivery_id, reason=reason, only_given_up=True)
        except (InvalidRequestError, UnknownDeliveryError):
            left.append(delivery_id)
        else:
            sent.append(delivery_id)
    return BulkResendReceipt(sent=sent, left=left)
