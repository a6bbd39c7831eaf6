"""The courier's claims and reports: each webhook gets the events of its task in order, each at least once.

A webhook's row is claimed for one attempt at a time. Its position moves when the receiver has answered.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Min, Q
from django.utils import timezone

from mailbox.database import write_turns
from mailbox.life import callbacks
from mailbox.life.callbacks import BACK_OFF, CLOCKS_DIFFER, REPORT_TIMEOUT, CallbackOutcome, DeliverySlots
from mailbox.models import PushConfig, PushDelivery, Task

MOST_LISTENED_TO = 2000  # tasks; the webhooks of further tasks are found by looking

Position = tuple[int, int]  # the number of a journal row, and the part of the row


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """The next event of a webhook: its position, and the text of the request."""

    position: Position
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A due webhook with its task, and its pending event; ``begun`` None: none yet."""

    config: PushConfig
    begun: PushDelivery | None


def due(*, limit: int, slots: DeliverySlots | None = None) -> Sequence[Candidate]:
    """Return up to ``limit`` due webhooks, those due for longest first. `claim` takes them.

    A webhook is passed over while its sender or its receiver has all the attempts that ``slots`` allows. A webhook of a
    paused receiver is put off until the end of the pause.
    """
    slots, now = slots or DeliverySlots(), timezone.now()
    rows = PushConfig.objects.due(now).exclude(task__sender__in=slots.full_senders())
    columns = ("pk", "task__sender_id", "url")
    chosen, put_off = callbacks.fair(rows.order_by("next_attempt_at", "pk").values_list(*columns), slots, limit)
    if put_off:
        _put_off(put_off, now)
    configs = PushConfig.objects.filter(pk__in=chosen).select_related("task").order_by("next_attempt_at", "pk")
    under_way = PushDelivery.objects.filter(config__in=chosen, state=PushDelivery.State.TELLING)
    begun = {delivery.config_id: delivery for delivery in under_way}
    return [Candidate(config=config, begun=begun.get(config.pk)) for config in configs]


def claim(tellings: Sequence[tuple[Candidate, Telling | None]]) -> Sequence[PushDelivery]:
    """Claim webhooks for one attempt each, and return the event of each, with its webhook.

    No other process claims them meanwhile. A `Telling` begins the next event, or replaces the text of the pending
    event. None leaves that text. A webhook that was claimed, served or changed since `due` returned it is left out.
    If a process dies during an attempt, the webhook is due again after two minutes, and the attempt is logged as lost.
    """
    claimed: list[PushDelivery] = []
    if not tellings:
        return claimed
    with write_turns.turn(), transaction.atomic(durable=True):
        now = timezone.now()
        keys = [candidate.config.pk for candidate, _ in tellings]
        free = PushConfig.objects.due(now).filter(pk__in=keys).select_related("task").order_by("pk")
        locked = {config.pk: config for config in free.select_for_update(skip_locked=True, of=("self",))}
        for candidate, telling in tellings:
            config = locked.get(candidate.config.pk)
            if config is not None and _is_unchanged(config, candidate):
                claimed += _begin(config, telling, now)
    return claimed


def pass_over(candidate: Candidate, seq: int) -> None:
    """Note that a due webhook has no event to tell up to the journal row ``seq`` of its task.

    A webhook of a resolved task is then done.
    """
    with write_turns.turn(), transaction.atomic(durable=True):
        config = _lock(candidate.config.pk)
        if config is None or not _is_unchanged(config, candidate):
            return
        config.told_seq, config.told_part = max(seq, config.told_seq), PushConfig.WHOLE_ROW
        _close_if_done(config, config.next_attempt_at)
        config.save(update_fields=["told_seq", "told_part", "next_attempt_at"])


def put_off(candidate: Candidate) -> None:
    """Look at a webhook again in `REPORT_TIMEOUT`, since its next event could not be rendered."""
    with write_turns.turn():
        later = timezone.now() + REPORT_TIMEOUT
        PushConfig.objects.open().filter(pk=candidate.config.pk).update(next_attempt_at=later)


def report(delivery: PushDelivery, outcome: CallbackOutcome) -> None:
    """Record the outcome of a claimed attempt, and move the webhook's position after a success.

    After a failure the next attempt is due in 1 s, 5 s, 30 s, 5 min, 1 h. After the last one the webhook is disabled.
    If the webhook was deleted or replaced meanwhile, nothing is recorded.
    """
    with write_turns.turn(), transaction.atomic(durable=True):
        now = timezone.now()
        config = _lock(delivery.config_id)
        row = PushDelivery.objects.select_for_update().filter(pk=delivery.pk, config=config).first()
        if config is None or row is None:
            return
        callbacks.log(row, delivery.attempts, outcome, now)
        if row.state != PushDelivery.State.TELLING or row.attempts != delivery.attempts:
            return
        if outcome.is_success:
            _delivered(config, row, now)
        else:
            _failed(config, row, now)
        row.save(update_fields=["state", "delivered_at", "next_attempt_at"])
        config.save(
            update_fields=["told_seq", "told_part", "next_attempt_at", "failures", "disabled_at"],
        )


def pause_until_due(*, shortest: float, longest: float) -> float:
    """Return the seconds until a webhook becomes due, within bounds; the ``shortest`` pause if one is due already."""
    now = timezone.now()
    if PushConfig.objects.due(now).exists():
        return shortest
    to_come = PushConfig.objects.with_something_to_tell().filter(next_attempt_at__gt=now)
    next_at = to_come.aggregate(at=Min("next_attempt_at"))["at"]
    return longest if next_at is None else min(max((next_at - now).total_seconds(), 0.0), longest)


def listened_to() -> Sequence[UUID]:
    """Return the ids of the tasks with open webhooks, the newest first, at most `MOST_LISTENED_TO`."""
    task_ids = PushConfig.objects.open().order_by("-pk").values_list("task__uuid", flat=True)
    return list(dict.fromkeys(task_ids[:MOST_LISTENED_TO]))


def bring_back() -> int:
    """Make webhooks due now whose next attempt is planned later than their failures allow; return their number.

    Their times were taken from a clock that ran ahead.
    """
    now = timezone.now()
    pauses = enumerate((timedelta(0), *BACK_OFF))
    cases = (
        Q(failures=number, next_attempt_at__gt=now + max(pause, REPORT_TIMEOUT) + CLOCKS_DIFFER)
        for number, pause in pauses
    )
    parked = PushConfig.objects.filter(Q(*cases, _connector=Q.OR))
    if not parked.exists():  # the usual case, which needs no write lock
        return 0
    with write_turns.turn():
        return parked.update(next_attempt_at=now)


def _put_off(ends: Mapping[int, datetime], now: datetime) -> None:
    with write_turns.turn(), transaction.atomic(durable=True):
        for until in set(ends.values()):
            keys = [pk for pk, end in ends.items() if end == until]
            late = PushConfig.objects.due(now).filter(pk__in=keys).select_for_update(skip_locked=True, of=("self",))
            PushConfig.objects.filter(pk__in=[config.pk for config in late]).update(next_attempt_at=until)


def _lock(pk: int | None) -> PushConfig | None:
    rows = PushConfig.objects.select_related("task").filter(pk__in=[] if pk is None else [pk])
    return rows.select_for_update(of=("self",)).first()


def _is_unchanged(config: PushConfig, candidate: Candidate) -> bool:
    seen = candidate.config
    return (config.position, config.created_at) == (
        seen.position,
        seen.created_at,
    ) and config.next_attempt_at is not None


def _begin(config: PushConfig, telling: Telling | None, now: datetime) -> list[PushDelivery]:
    """Return the event of the claimed webhook, as the only element; none without an event."""
    under_way = PushDelivery.objects.select_for_update().filter(config=config, state=PushDelivery.State.TELLING)
    delivery = under_way.first()
    if delivery is None and telling is not None:
        delivery = _written(config, telling, now)
    elif delivery is not None and telling is not None:
        delivery.body = telling.body
    if delivery is None:
        return []
    if delivery.attempts:
        callbacks.note_lost([delivery], now)
    delivery.attempts += 1
    delivery.next_attempt_at = config.next_attempt_at = now + REPORT_TIMEOUT
    delivery.save()
    config.save(update_fields=["next_attempt_at"])
    delivery.config = config
    return [delivery]


def _written(config: PushConfig, telling: Telling, now: datetime) -> PushDelivery:
    seq, part = telling.position
    return PushDelivery(
        task_uuid=config.task.uuid,
        sender_id=config.task.sender_id,
        url=config.url,
        body=telling.body,
        created_at=now,
        state=PushDelivery.State.TELLING,
        config=config,
        seq=seq,
        part=part,
    )


def _delivered(config: PushConfig, row: PushDelivery, now: datetime) -> None:
    row.state, row.delivered_at = PushDelivery.State.DELIVERED, now
    config.told_seq, config.told_part = row.seq or 0, row.part or PushConfig.WHOLE_ROW
    config.failures = 0
    _close_if_done(config, now)


def _failed(config: PushConfig, row: PushDelivery, now: datetime) -> None:
    config.failures = row.attempts - row.forgiven
    if config.failures > len(BACK_OFF):
        row.state, config.disabled_at, config.next_attempt_at = PushDelivery.State.DISABLED, now, None
    else:
        row.next_attempt_at = config.next_attempt_at = now + BACK_OFF[config.failures - 1]


def _close_if_done(config: PushConfig, next_at: datetime | None) -> None:
    """Plan the next look at ``next_at``, or none if the task is resolved and its newest journal row was reported."""
    is_done = config.task.state == Task.State.RESOLVED and config.position >= (
        config.task.journal_seq,
        PushConfig.WHOLE_ROW,
    )
    config.next_attempt_at = None if is_done else next_at
