"""The outbox of callbacks: written with a task's end, given out one attempt at a time.

Source: Agnostic ADR-018; back-off and signatures after Standard Webhooks.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from mailbox.database import write_turns
from mailbox.gate import audit, entries
from mailbox.gate.callers import Caller
from mailbox.gate.requests import Request
from mailbox.models import PushAttempt, PushConfig, PushDelivery, Result, Task
from mailbox.outbound import destinations
from mailbox.outbound.errors import BlockedUrlError
from mailbox.words import json_text, secret_box
from mailbox.words.envelopes import URL_MAX_LENGTH, TaskEnvelope, check_reason
from mailbox.words.errors import InvalidRequestError, UnknownDeliveryError

BACK_OFF = (
    timedelta(seconds=1),
    timedelta(seconds=5),
    timedelta(seconds=30),
    timedelta(minutes=5),
    timedelta(hours=1),
)
GIVEN_UP_AFTER = timedelta(minutes=2)  # an attempt that never reported is tried again
# What renders a callback's body, by the dialect of the task. The hub fills the table as it starts, so that nothing here
# speaks a dialect. `OTHERWISE` is the entry of all dialects without their own.
BODIES: dict[str, Callable[[Task, Result], Mapping[str, Any]]] = {}
OTHERWISE = ""
LOST = "the hub's process ended before it reported; the receiver may have it"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallbackOutcome:
    """What came of an attempt: the receiver's status, None without an answer, and why it failed if it did."""

    status: int | None
    problem: str = ""

    @property
    def is_success(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


def remember(task: Task, envelope: TaskEnvelope) -> None:
    """Keep where the sender of a new task wants to be called back, in the transaction of the send."""
    if envelope.callback_url is not None:
        secret = envelope.callback_secret
        PushConfig.objects.create(
            task=task, url=envelope.callback_url, sealed_secret=secret_box.seal(secret) if secret else None
        )


def is_asked_again(task: Task, envelope: TaskEnvelope) -> bool:
    """Whether ``envelope`` names the very callback, or none, that ``task`` was sent with."""
    known = PushConfig.objects.filter(task=task).first() if task.calls_back else None
    if known is None or envelope.callback_url is None:
        return known is None and envelope.callback_url is None
    try:
        secret = secret_box.unseal(known.sealed_secret) if known.sealed_secret else None
    except secret_box.UnreadableSecretError:  # nobody can tell any more
        secret = envelope.callback_secret
    return (known.url, secret) == (envelope.callback_url, envelope.callback_secret)


def enqueue(task: Task, result: Result, now: datetime) -> None:
    """Write the delivery of a resolved task, in the transaction that resolved it."""
    if not task.calls_back:
        return
    config = PushConfig.objects.get(task=task)
    PushDelivery.objects.create(
        task_uuid=task.uuid,
        sender_id=task.sender_id,
        url=config.url,
        sealed_secret=config.sealed_secret,
        body=_body(task, result),
        created_at=now,
        next_attempt_at=now,
    )


def receiver(url: str) -> str:
    """Return who answers at ``url``: its scheme, host and port."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def claim_due(
    *, limit: int, busy: Mapping[str, int] | None = None, at_one_receiver: int | None = None
) -> Sequence[PushDelivery]:
    """Take up to ``limit`` due deliveries for one attempt each, oldest first; nobody else gets them meanwhile.

    No receiver gets more than ``at_one_receiver`` (None: any number), with those that ``busy`` counts under way at it.
    An attempt that never reports, because its process died, is due again after two minutes; its log then says so.
    """
    under_way, most = Counter(busy or {}), at_one_receiver or limit
    full = [name for name, count in under_way.items() if count >= most]
    due = PushDelivery.objects.to_receivers_but(full).order_by("next_attempt_at", "pk")
    if not due.due(timezone.now()).exists():  # nearly every look: no write lock is taken for it
        return []
    claimed = []
    with write_turns.turn(), transaction.atomic(durable=True):
        now = timezone.now()
        for delivery in due.due(now).select_for_update(skip_locked=True)[:limit]:
            under_way[receiver(delivery.url)] += 1
            if under_way[receiver(delivery.url)] <= most:
                claimed.append(delivery)
        _note_lost([delivery for delivery in claimed if delivery.attempts], now)
        for delivery in claimed:
            delivery.attempts += 1
            delivery.next_attempt_at = now + GIVEN_UP_AFTER
            delivery.save(update_fields=["attempts", "next_attempt_at"])
    return claimed


def report(delivery: PushDelivery, outcome: CallbackOutcome) -> None:
    """Record what came of the claimed attempt, and when the next is due: 1 s, 5 s, 30 s, 5 min, 1 h, then never."""
    with write_turns.turn(), transaction.atomic(durable=True):
        now = timezone.now()
        row = PushDelivery.objects.select_for_update().get(pk=delivery.pk)
        said = {"at": now, "status": outcome.status, "problem": json_text.storable(outcome.problem)[:2000]}
        PushAttempt.objects.update_or_create(delivery=row, number=delivery.attempts, defaults=said)
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


def resend(caller: Caller, delivery_id: UUID, *, reason: str) -> PushDelivery:
    """Make a delivery due now, with all its attempts before it again. Needs ``a2a.push.resend``, which operators hold.

    Raises `InvalidRequestError` for a blank reason, a capability error, `UnknownDeliveryError`. Journals
    ``push_resent`` with the reason.
    """
    reason = check_reason(reason)
    with audit.decision(caller) as journal:
        journal.admit(Request.to_resend(delivery_id))
        row = PushDelivery.objects.select_for_update().filter(delivery_id=delivery_id).first()
        if row is None:
            raise UnknownDeliveryError(f"no delivery {delivery_id} here", delivery_id=delivery_id)
        row.state, row.next_attempt_at, row.forgiven = PushDelivery.State.PENDING, journal.now, row.attempts
        row.save(update_fields=["state", "next_attempt_at", "forgiven"])
        journal.beside(entries.push_resent(row.task_uuid, delivery_id, reason))
    return row


def _note_lost(begun: Sequence[PushDelivery], now: datetime) -> None:
    """Log the last attempt of each that never reported: what came of it is unknown."""
    reported = {(one.delivery_id, one.number) for one in PushAttempt.objects.filter(delivery__in=begun)}
    PushAttempt.objects.bulk_create(
        PushAttempt(delivery=one, number=one.attempts, at=now, problem=LOST)
        for one in begun
        if (one.pk, one.attempts) not in reported
    )


def _body(task: Task, result: Result) -> str:
    """Return the JSON text that the receiver is sent; signatures are made over these very characters."""
    render = BODIES.get(task.dialect, BODIES[OTHERWISE])
    return json.dumps(render(task, result))


def judge(callback_url: str | None) -> None:
    """Raise `InvalidRequestError` for a callback that would never be made, as far as the spelling of its URL tells.

    What a name resolves to is judged at every attempt.
    """
    if callback_url is None:
        return
    try:
        destinations.judge(callback_url, longest=URL_MAX_LENGTH)
    except BlockedUrlError as error:
        # The URL, which may carry a token, is not repeated.
        said = error.message if error.message.startswith("Blocked URL") else "the hub cannot call this URL"
        raise InvalidRequestError({"callback_url": said}) from error
