"""The outbox: reports to the targets that tasks name. Each report is claimed for one attempt at a time.

A callback wants the end of its task alone. Its delivery is written in the transaction that resolves the task. A webhook
wants each event of its task, in order, each at least once. The courier writes its next delivery when the receiver has
accepted the last one. Claims, attempts, pauses and resends are the same for both.

Many deliveries that were given up can be sent again in one call, each by itself, with one receipt.

Source: Agnostic ADR-018, callbacks; A2A, push notifications; back-off after Standard Webhooks.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import itemgetter
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from mailbox.access import audit
from mailbox.access.callers import Caller
from mailbox.access.requests import Request
from mailbox.database import write_turns
from mailbox.journal import task_entries
from mailbox.life.delivery_slots import DeliverySlots, pause_key
from mailbox.models import PushAttempt, PushConfig, PushDelivery, Result, Task
from mailbox.models.push import latest
from mailbox.outbound import destinations
from mailbox.words import json_text
from mailbox.words.envelopes import check_reason
from mailbox.words.errors import InvalidRequestError, UnknownDeliveryError

BACK_OFF = (
    timedelta(seconds=1),
    timedelta(seconds=5),
    timedelta(seconds=30),
    timedelta(minutes=5),
    timedelta(hours=1),
)
REPORT_TIMEOUT = timedelta(minutes=2)  # an attempt without a report is repeated
CLOCKS_DIFFER = timedelta(minutes=5)  # at most, among the machines of a hub
# Due targets that one claim looks at: a few first, then many if the first belong to busy senders and receivers.
FIRST_LOOK, LAST_LOOK = 256, 20_000
MOST_LISTENED_TO = 2000  # tasks; the webhooks of further tasks are noticed by looking
MOST_RESENT = 200  # deliveries at once
LOST = "The hub's process ended before it reported; the receiver may have the callback."
# Functions that render the body of a callback, by the dialect of its task. The hub fills the table at its start, so
# this module knows no dialect. `OTHERWISE` is the key for dialects without a function.
BODIES: dict[str, Callable[[Task, Result], Mapping[str, Any]]] = {}
OTHERWISE = ""
_Kind = type[PushDelivery] | type[PushConfig]
_Due = tuple[datetime, _Kind, int, int, str]  # since when, kind, primary key, sender, URL
_Key = tuple[_Kind, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryOutcome:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """The next event of a webhook: the number and the part of its journal row, and the text of the request."""

    position: tuple[int, int]
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A due webhook with its task, and its pending event; ``begun`` None: none yet."""

    config: PushConfig
    begun: PushDelivery | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DueTargets:
    """The targets to claim: the primary keys of callbacks, and webhooks. Those that are due for longest come first."""

    callbacks: Sequence[int]
    webhooks: Sequence[Candidate]


def enqueue(task: Task, result: Result, now: datetime) -> None:
    """Write the callback of a resolved task, in the transaction that resolves it."""
    if not task.calls_back:
        return
    config = PushConfig.objects.get(task=task, protocol=PushConfig.Protocol.CALLBACK)
    render = BODIES.get(task.dialect, BODIES[OTHERWISE])
    PushDelivery.objects.create(
        task_uuid=task.uuid,
        sender_id=task.sender_id,
        url=config.url,
        sealed_secret=config.sealed_secret,
        body=json.dumps(render(task, result)),  # signatures are made over exactly these characters
        created_at=now,
        next_attempt_at=now,
    )


def due(*, limit: int, slots: DeliverySlots | None = None) -> DueTargets:
    """Return up to ``limit`` due targets. `claim` takes them.

    A target is passed over while its sender or its receiver has all the attempts that ``slots`` allows. A paused
    target is put off until the end of its pause.
    """
    slots, now = slots or DeliverySlots(), timezone.now()
    chosen, put_off_to = _fair(now, slots, limit)
    if put_off_to:
        _put_off(put_off_to, now)
    keys = [pk for kind, pk in chosen if kind is PushConfig]
    configs = PushConfig.objects.filter(pk__in=keys).select_related("task").order_by("next_attempt_at", "pk")
    begun = {delivery.config_id: delivery for delivery in PushDelivery.objects.pending_at(keys)}
    return DueTargets(
        callbacks=[pk for kind, pk in chosen if kind is PushDelivery],
        webhooks=[Candidate(config=config, begun=begun.get(config.pk)) for config in configs],
    )


def _fair(now: datetime, slots: DeliverySlots, limit: int) -> tuple[list[_Key], dict[_Key, datetime]]:
    """Return the keys of the targets to claim, and of those to put off with the end of their pause."""
    chosen: list[_Key] = []
    put_off_to: dict[_Key, datetime] = {}
    for looked_at in (FIRST_LOOK, LAST_LOOK):
        due_targets, has_more = _due_targets(now, slots, looked_at)
        chosen, put_off_to, left = [], {}, slots.copy()
        for _, kind, pk, sender, url in due_targets:
            key = pause_key(url, pk if kind is PushConfig else None)
            if key in left.paused:
                put_off_to[kind, pk] = left.paused[key]
            elif len(chosen) < limit and left.take(sender, destinations.receiver(url)):
                chosen.append((kind, pk))
        if len(chosen) == limit or not has_more:
            break
    return chosen, put_off_to


def _due_targets(now: datetime, slots: DeliverySlots, most: int) -> tuple[list[_Due], bool]:
    """Return the due targets of senders with free slots, those due for longest first, and whether there are more.

    Since when a webhook is due, `PushConfig.DUE_SINCE` says.
    """
    full = slots.full_senders()
    callbacks = PushDelivery.objects.due(now).exclude(sender__in=full).order_by("next_attempt_at", "pk")
    webhooks = PushConfig.objects.due(now).exclude(task__sender__in=full).order_by("next_attempt_at", "pk")
    ready = callbacks.values_list("next_attempt_at", "pk", "sender_id", "url")[:most]
    moved = webhooks.values_list("pk", "task__sender_id", "url", *PushConfig.DUE_SINCE)[:most]
    rows: list[_Due] = [(at, PushDelivery, pk, sender, url) for at, pk, sender, url in ready]
    rows += [(latest(*moments), PushConfig, pk, sender, url) for pk, sender, url, *moments in moved]
    return sorted(rows, key=itemgetter(0)), most in (len(ready), len(moved))


def _put_off(ends: Mapping[_Key, datetime], now: datetime) -> None:
    with write_turns.turn(), transaction.atomic(durable=True):
        for kind, until in dict.fromkeys((kind, until) for (kind, _), until in ends.items()):
            keys = [pk for (of_kind, pk), end in ends.items() if (of_kind, end) == (kind, until)]
            late = kind.objects.due(now).filter(pk__in=keys).select_for_update(skip_locked=True, of=("self",))
            kind.objects.filter(pk__in=[row.pk for row in late]).update(next_attempt_at=until)


def claim(callbacks: Sequence[int], events: Sequence[tuple[Candidate, Event | None]] = ()) -> Sequence[PushDelivery]:
    """Claim callbacks and webhooks for one attempt each; return their deliveries, those of webhooks with their webhook.

    No other process claims them meanwhile. An `Event` begins the next delivery of its webhook, or replaces the text of
    the pending one. None leaves that text. A target that was claimed, served or changed since `due` is left out. If a
    process dies during an attempt, the target is due again after two minutes, and the attempt is logged as lost.
    """
    if not callbacks and not events:  # the usual case, which needs no write lock
        return []
    with write_turns.turn(), transaction.atomic(durable=True):
        now = timezone.now()
        due_now = PushDelivery.objects.due(now).filter(pk__in=callbacks).order_by("next_attempt_at", "pk")
        claimed = [*due_now.select_for_update(skip_locked=True), *_deliveries(events, now)]
        _note_lost([delivery for delivery in claimed if delivery.attempts], now)
        for delivery in claimed:
            delivery.attempts += 1
            delivery.next_attempt_at = now + REPORT_TIMEOUT
            delivery.save(update_fields=None if delivery.config else ["attempts", "next_attempt_at"])
            if delivery.config:
                delivery.config.next_attempt_at = delivery.next_attempt_at
                delivery.config.save(update_fields=["next_attempt_at"])
    return claimed


def _deliveries(events: Sequence[tuple[Candidate, Event | None]], now: datetime) -> Iterator[PushDelivery]:
    """Yield the pending delivery of each webhook that is still due, or its new one. Locks the webhooks first."""
    keys = [candidate.config.pk for candidate, _ in events]
    free = PushConfig.objects.due(now).filter(pk__in=keys).select_related("task").order_by("pk")
    locked = {config.pk: config for config in free.select_for_update(skip_locked=True, of=("self",))}
    pending = {row.config_id: row for row in PushDelivery.objects.pending_at(locked).select_for_update()}
    for candidate, event in events:
        config = locked.get(candidate.config.pk)
        if config is None or not _is_unchanged(config, candidate):
            continue
        delivery = pending.get(config.pk)
        if delivery is not None:
            delivery.config, delivery.body = config, event.body if event else delivery.body
            yield delivery
        elif event is not None:
            yield PushDelivery.of_event(config, *event.position, event.body, now)


def pass_over(candidate: Candidate, seq: int) -> None:
    """Note that a due webhook gets nothing up to the journal row ``seq`` of its task.

    A webhook of a resolved task is then done.
    """
    with write_turns.turn(), transaction.atomic(durable=True):
        config = _lock(candidate.config.pk)
        if config is None or not _is_unchanged(config, candidate):
            return
        config.told_seq, config.told_part = max(seq, config.told_seq), PushConfig.WHOLE_ROW
        _close_if_done(config, timezone.now())
        config.save(update_fields=["told_seq", "told_part", "next_attempt_at"])


def put_off(candidate: Candidate) -> None:
    """Look at a webhook again in `REPORT_TIMEOUT`, since its next event could not be rendered."""
    with write_turns.turn():
        later = timezone.now() + REPORT_TIMEOUT
        PushConfig.objects.open().filter(pk=candidate.config.pk).update(next_attempt_at=later)


def report(delivery: PushDelivery, outcome: DeliveryOutcome) -> None:
    """Record the outcome of a claimed attempt. A success moves the position of a webhook.

    After a failure the next attempt is due in 1 s, 5 s, 30 s, 5 min, 1 h. After the last one the delivery is given up,
    and its webhook disabled. If the delivery is gone, or its webhook was replaced, nothing is recorded.
    """
    with write_turns.turn(), transaction.atomic(durable=True):
        now = timezone.now()
        config = _lock(delivery.config_id)
        row = PushDelivery.objects.select_for_update().filter(pk=delivery.pk).first()
        if row is None or row.config_id != delivery.config_id:
            return
        _log(row, delivery.attempts, outcome, now)
        # An erasure gives a callback up, which may arrive all the same.
        is_given_up = row.state == PushDelivery.State.DISABLED and not row.is_of_webhook
        is_open = row.state in PushDelivery.UNDER_WAY or (is_given_up and outcome.is_success)
        if row.attempts != delivery.attempts or not is_open:
            return
        failures = row.attempts - row.forgiven
        if outcome.is_success:
            row.state, row.delivered_at = PushDelivery.State.DELIVERED, now
        elif failures > len(BACK_OFF):
            row.state = PushDelivery.State.DISABLED
        else:
            row.next_attempt_at = now + BACK_OFF[failures - 1]
        row.save(update_fields=["state", "delivered_at", "next_attempt_at"])
        if config is not None:
            _follow(config, row, failures, now)


def _follow(config: PushConfig, row: PushDelivery, failures: int, now: datetime) -> None:
    """Bring a locked webhook to the state of its delivery after an attempt."""
    config.failures, config.next_attempt_at = failures, row.next_attempt_at
    if row.state == PushDelivery.State.DISABLED:
        config.disabled_at, config.next_attempt_at = now, None
    elif row.state == PushDelivery.State.DELIVERED:
        config.told_seq, config.told_part = row.seq or 0, row.part or PushConfig.WHOLE_ROW
        config.failures = 0
        _close_if_done(config, now)
    config.save(update_fields=["told_seq", "told_part", "next_attempt_at", "failures", "disabled_at"])


def _close_if_done(config: PushConfig, next_at: datetime | None) -> None:
    """Plan the next look at ``next_at``, or none if the task is resolved and its newest journal row was reported."""
    newest = (config.task.journal_seq, PushConfig.WHOLE_ROW)
    is_done = config.task.state == Task.State.RESOLVED and config.position >= newest
    config.next_attempt_at = None if is_done else next_at


def _lock(pk: int | None) -> PushConfig | None:
    if pk is None:
        return None
    return PushConfig.objects.select_related("task").filter(pk=pk).select_for_update(of=("self",)).first()


def _is_unchanged(config: PushConfig, candidate: Candidate) -> bool:
    seen = candidate.config
    is_same = (config.position, config.created_at) == (seen.position, seen.created_at)
    return is_same and config.next_attempt_at is not None


def _log(row: PushDelivery, number: int, outcome: DeliveryOutcome, now: datetime) -> None:
    fields = {"at": now, "status": outcome.status, "problem": json_text.storable(outcome.problem)[:2000]}
    PushAttempt.objects.update_or_create(delivery=row, number=number, defaults=fields)


def _note_lost(begun: Sequence[PushDelivery], now: datetime) -> None:
    """Log the last attempt of each delivery without a report as `LOST`."""
    reported = set(PushAttempt.objects.filter(delivery__in=begun).values_list("delivery_id", "number"))
    PushAttempt.objects.bulk_create(
        PushAttempt(delivery=delivery, number=delivery.attempts, at=now, problem=LOST)
        for delivery in begun
        if (delivery.pk, delivery.attempts) not in reported
    )


def pause_until_due(*, shortest: float, longest: float) -> float:
    """Return the seconds until a target becomes due, within bounds; the ``shortest`` pause if one is due already."""
    coming = (PushDelivery.objects.pending(), PushConfig.objects.with_something_to_tell())
    first = [rows.order_by("next_attempt_at").values_list("next_attempt_at", flat=True).first() for rows in coming]
    now, times = timezone.now(), [time for time in first if time is not None]
    if any(time <= now for time in times):
        return shortest
    return min([longest, *((time - now).total_seconds() for time in times)])


def listened_to() -> Sequence[UUID]:
    """Return the ids of the tasks with open webhooks, the newest first, at most `MOST_LISTENED_TO`."""
    task_ids = PushConfig.objects.open().order_by("-pk").values_list("task__uuid", flat=True)
    return list(dict.fromkeys(task_ids[:MOST_LISTENED_TO]))


def bring_back() -> int:
    """Make targets due now whose next attempt is planned later than their failures allow. Return their number.

    Their times were taken from a clock that ran ahead.
    """
    now = timezone.now()
    callbacks = PushDelivery.objects.pending().annotate(tries=F("attempts") - F("forgiven")).filter(_is_put_off(now))
    webhooks = PushConfig.objects.open().annotate(tries=F("failures")).filter(_is_put_off(now))
    number = 0
    for parked in (callbacks, webhooks):
        if parked.exists():  # an unusual case; only this needs a write lock
            with write_turns.turn():
                number += parked.update(next_attempt_at=now)
    return number


def _is_put_off(now: datetime) -> Q:
    """Return whether the next attempt is later than the pause after the ``tries`` so far, or after a lost one."""
    late = [now + max(pause, REPORT_TIMEOUT) + CLOCKS_DIFFER for pause in (timedelta(0), *BACK_OFF)]
    cases = (Q(tries=number, next_attempt_at__gt=moment) for number, moment in enumerate(late))
    # Lost attempts count without an end, and no pause follows them.
    lost = Q(tries__gte=len(late))
    return Q(next_attempt_at__gt=late[0]) & Q(*cases, lost, _connector=Q.OR)


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
        row.state = _pending_again(row, config, journal.now)
        row.next_attempt_at, row.forgiven = journal.now, row.attempts
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


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkResendReceipt:
    """The ids of the callbacks that are sent again, and of those that were left alone.

    A callback is left alone if it is gone, is no longer given up, or belongs to a deleted webhook.
    """

    sent: Sequence[UUID]
    left: Sequence[UUID]


def resend_given_up(caller: Caller, delivery_ids: Sequence[UUID], *, reason: str) -> BulkResendReceipt:
    """Make the given-up callbacks of these ids due now, at most `MOST_RESENT`. Needs ``a2a.push.resend``.

    Each is one decision, as `resend` makes it. Raises `InvalidRequestError` for a blank reason and for more
    ids, and a capability error at the first callback.
    """
    reason = check_reason(reason)
    if len(delivery_ids) > MOST_RESENT:
        raise InvalidRequestError({"delivery_id": f"at most {MOST_RESENT} callbacks are sent again at once"})
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
