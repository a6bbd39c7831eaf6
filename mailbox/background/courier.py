"""The courier: brings callbacks and the events of webhooks to their receivers, a bounded number at once.

Each request goes through the outbound guard. A callback is signed. A webhook gets each event of its task, in order, in
the words of the official protocol. Source: Agnostic ADR-018, callbacks; Standard Webhooks; A2A, push notifications.
"""

import base64
import hashlib
import hmac
import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice

from django.db import InterfaceError, OperationalError
from django.utils import timezone

from mailbox.database import waiting
from mailbox.database.bell import topics
from mailbox.inspection.event_log import EventLog, EventLogCache
from mailbox.life import outbox
from mailbox.life.delivery_slots import DeliverySlots, pause_key
from mailbox.life.outbox import Candidate, DeliveryOutcome, Event
from mailbox.models import PushConfig, PushDelivery, Task
from mailbox.outbound import exchange
from mailbox.outbound.errors import BlockedUrlError, ExternalServiceError, NoAnswerError
from mailbox.words import json_text, secret_box
from mailbox.words.a2a import v0_3, v1_0
from mailbox.words.a2a.fold import EventKind, EventPosition, TaskEvent
from mailbox.words.envelopes import WEBHOOK_KEY

TIMEOUT = 10.0  # seconds until an attempt must have a status: less than `serve` gives a process to stop
AT_ONCE = 64  # attempts at the same time
PER_RECEIVER = 8  # attempts at one receiver, so that a receiver that hangs delays no other
PER_SENDER = 8  # attempts for one sender, so that its receivers delay no report to another sender
MOST_TIMEOUTS = 3  # in a row, after which a webhook, or the callbacks to a receiver, are paused
PAUSE = timedelta(minutes=1)
MOST_REMEMBERED = 10_000  # webhooks and receivers with timeouts
LOOK_AROUND_EVERY = 0.5  # seconds, while a target is due that no thread or receiver is free for
LONGEST_PAUSE = 10.0  # seconds without a ring, an attempt that ended, or a target that becomes due
READ_OF_ANSWER = 1024  # bytes to keep, so that operators see why an attempt failed
MOST_CHUNKS = 100  # of one artifact, in one event
TOKEN = "X-A2A-Notification-Token"  # noqa: S105 (the name of a header)
MEDIA: Mapping[str, str] = {
    PushConfig.Protocol.CALLBACK: "application/json",
    PushConfig.Protocol.V1_0: "application/a2a+json",
    PushConfig.Protocol.V0_3: "application/json",
}

_logger = logging.getLogger(__name__)
_Planned = tuple[Candidate, Event | None]


class CircuitBreaker:
    """Counts timeouts in a row by `pause_key`, and pauses what had `MOST_TIMEOUTS`. It stays in memory.

    After the pause one more timeout begins the next. Any other outcome forgets the timeouts.
    """

    def __init__(self) -> None:
        self._timeouts: Counter[str] = Counter()
        self._paused: dict[str, datetime] = {}

    def note(self, key: str, outcome: DeliveryOutcome, now: datetime) -> None:
        if not outcome.timed_out:
            self._timeouts.pop(key, None)
            self._paused.pop(key, None)
            return
        self._timeouts[key] += 1
        if self._timeouts[key] >= MOST_TIMEOUTS:
            self._paused[key] = now + PAUSE
        if len(self._timeouts) > MOST_REMEMBERED:
            self._timeouts.pop(next(iter(self._timeouts)))

    def paused(self, now: datetime) -> Mapping[str, datetime]:
        """Return the end of each pause."""
        self._paused = {key: until for key, until in self._paused.items() if until > now}
        return self._paused


class Courier:
    """Brings due deliveries to their receivers. Any number of processes can run a courier.

    A pool of threads waits for the receivers. Only the thread that runs the courier reads and writes rows.
    """

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="courier")
        self._under_way: dict[Future[DeliveryOutcome], PushDelivery] = {}
        self._breaker = CircuitBreaker()
        self._event_logs = EventLogCache()
        self._ring: Callable[[], object] = lambda: None

    def run(self, stop: threading.Event) -> None:
        """Bring deliveries until ``stop`` is set. Then wait for the attempts that have begun, and record them."""
        waiting.run_rounds(
            stop,
            topics=lambda: [topics.CALLBACKS, *map(topics.task, outbox.listened_to())],
            look=self.look_around,
            pause=lambda: outbox.pause_until_due(shortest=LOOK_AROUND_EVERY, longest=LONGEST_PAUSE),
            share_ring=self._use_ring,
        )
        self.finish()

    def _use_ring(self, ring: Callable[[], object]) -> None:
        self._ring = ring

    def look_around(self) -> int:
        """Record the attempts that have ended, and begin due attempts while threads are free; return their number."""
        for ended in [attempt for attempt in self._under_way if attempt.done()]:
            self._report(ended)
        free = AT_ONCE - len(self._under_way)
        slots = DeliverySlots(
            self._under_way.values(),
            per_sender=PER_SENDER,
            per_receiver=PER_RECEIVER,
            paused=self._breaker.paused(timezone.now()),
        )
        before = len(self._under_way)
        for delivery in self.claim(free, slots) if free else ():
            begun = self._threads.submit(attempt, delivery)
            self._under_way[begun] = delivery
            begun.add_done_callback(lambda _: self._ring())
        return len(self._under_way) - before

    def finish(self) -> None:
        """Wait for the attempts that have begun, and record each."""
        self._threads.shutdown()
        for ended in list(self._under_way):
            self._report(ended)

    def claim(self, limit: int, slots: DeliverySlots) -> Iterator[PushDelivery]:
        """Claim up to ``limit`` due targets, as many as ``slots`` allows; yield their deliveries.

        Callbacks come first, since the events of webhooks are read and rendered before their claim.
        """
        due = outbox.due(limit=limit, slots=slots)
        yield from outbox.claim(due.callbacks)
        planned: list[_Planned] = []
        for candidate in due.webhooks:
            try:
                planned += _planned(candidate, self._event_logs)
            except (OperationalError, InterfaceError):
                raise
            except Exception:
                _logger.exception("an event for webhook %s could not be rendered", candidate.config.pk)
                outbox.put_off(candidate)
        yield from outbox.claim([], planned)

    def store(self, delivery: PushDelivery, outcome: DeliveryOutcome) -> None:
        """Record the outcome of an attempt. Only an error of the database's connection is raised."""
        try:
            outbox.report(delivery, outcome)
        except (OperationalError, InterfaceError):
            raise
        except Exception:
            _logger.exception("the outcome of an attempt at delivery %s could not be stored", delivery.delivery_id)
        self._breaker.note(pause_key(delivery.url, delivery.config_id), outcome, timezone.now())

    def _report(self, ended: Future[DeliveryOutcome]) -> None:
        """Record the outcome of an attempt. While the database is unavailable, the outcome stays for the next try."""
        delivery = self._under_way[ended]
        if (failure := ended.exception()) is not None:
            _logger.error("the hub failed at delivery %s", delivery.delivery_id, exc_info=failure)
            outcome = DeliveryOutcome(status=None, problem=f"the hub itself failed: {type(failure).__name__}")
        else:
            outcome = ended.result()
        self.store(delivery, outcome)
        del self._under_way[ended]


def attempt(delivery: PushDelivery) -> DeliveryOutcome:
    """Send one claimed delivery and return the outcome, also for errors. Reads and writes no row.

    Only the receiver's status decides. A slow or broken body of its answer does not matter.
    """
    body = delivery.body.encode()
    try:
        answer = exchange.exchange(
            "POST",
            delivery.url,
            within=TIMEOUT,
            headers=headers(delivery, body),
            content=body,
            glimpse=READ_OF_ANSWER,
        )
    except secret_box.UnreadableSecretError:
        return DeliveryOutcome(status=None, problem="its secret was encrypted under another SECRET_KEY")
    except (BlockedUrlError, ExternalServiceError) as error:
        timed_out = isinstance(error, NoAnswerError) and error.timed_out
        return DeliveryOutcome(status=None, problem=error.message, timed_out=timed_out)
    problem = "" if answer.is_success else f"the receiver answered {answer.status}: {answer.text}"
    return DeliveryOutcome(status=answer.status, problem=problem)


def headers(delivery: PushDelivery, body: bytes) -> dict[str, str]:
    """Return the headers of one attempt: of a webhook those that its sender set. Raises `UnreadableSecretError`."""
    config = delivery.config
    protocol = config.protocol if config else PushConfig.Protocol.CALLBACK
    values = {
        "Content-Type": MEDIA[protocol],
        "User-Agent": "A2A-Hub/webhooks" if config else "A2A-Hub/callbacks",
        "Accept-Encoding": "identity",
        "webhook-id": str(delivery.delivery_id),
    }
    if config is None:
        secret = secret_box.unseal(delivery.sealed_secret) if delivery.sealed_secret else None
        return values | signature(str(delivery.delivery_id), body, secret)
    if config.sealed_token is not None:
        values[TOKEN] = secret_box.unseal(config.sealed_token)
    if config.auth_scheme is not None and config.sealed_credentials is not None:
        values["Authorization"] = f"{config.auth_scheme} {secret_box.unseal(config.sealed_credentials)}"
    return values


def signature(delivery_id: str, body: bytes, secret: str | None) -> dict[str, str]:
    """Return the time of an attempt at a callback, Agnostic's signature of the body, and that of Standard Webhooks.

    The key of Agnostic's signature is the secret's text. The key of Standard Webhooks is the base64 text after
    ``whsec_``, decoded, or the secret's text if it has no such prefix. None signs nothing.
    """
    stamp = str(int(timezone.now().timestamp()))
    if secret is None:
        return {"webhook-timestamp": stamp}
    encoded = secret.removeprefix(WEBHOOK_KEY)
    key = secret.encode() if encoded == secret else base64.b64decode(encoded)
    signed = f"{delivery_id}.{stamp}.".encode() + body
    digest = hmac.new(key, signed, hashlib.sha256).digest()
    return {
        "webhook-timestamp": stamp,
        "X-Signature": "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest(),
        "webhook-signature": "v1," + base64.b64encode(digest).decode(),
    }


def _planned(candidate: Candidate, event_logs: EventLogCache) -> list[_Planned]:
    """Return the next event of the webhook, as the only element; none if its task has no event for it.

    Version 0.3 of the protocol reports the whole task as it is at the attempt, so each attempt renders it anew.
    """
    config, begun = candidate.config, candidate.begun
    whole = config.protocol == PushConfig.Protocol.V0_3
    if begun is not None and not whole:
        return [(candidate, None)]
    log = event_logs.of(config.task)
    if begun is not None:
        position, body = (begun.seq or 0, begun.part or PushConfig.WHOLE_ROW), _whole_task(log)
    elif left := list(islice(_unreported(config, log), MOST_CHUNKS)):
        event = left[0] if whole else joined(left)
        position, body = event.position, _whole_task(log) if whole else _change(config.task, event)
    else:
        outbox.pass_over(candidate, log.seq)
        return []
    return [(candidate, Event(position=position, body=body))]


def _unreported(config: PushConfig, log: EventLog) -> Iterator[TaskEvent]:
    """Yield the events for the receiver that come after its position, in order."""
    for index in range(log.index_after(EventPosition(*config.position)), len(log.events)):
        if _concerns(config, log.events[index]):
            yield log.events[index]


def _concerns(config: PushConfig, event: TaskEvent) -> bool:
    """Whether the receiver gets the event. The task itself is no news to its sender."""
    if config.protocol == PushConfig.Protocol.V0_3:
        return event.kind == EventKind.STATUS
    return event.kind != EventKind.TASK


def joined(events: Sequence[TaskEvent]) -> TaskEvent:
    """Return the first event. If chunks of the same artifact follow it, they are one event with it."""
    whole = events[0]
    for event in events[1:]:
        before, chunk = whole.produced, event.produced
        if before is None or chunk is None or not chunk.append or chunk.artifact_id != before.artifact_id:
            break
        blocks, extra = [*before.blocks, *chunk.blocks], {**before.extra, **chunk.extra}
        both = replace(before, blocks=blocks, extra=extra, last_chunk=chunk.last_chunk)
        whole = replace(event, produced=both)
    return whole


def _change(task: Task, event: TaskEvent) -> str:
    return json_text.dumps(v1_0.stream_response(task.uuid, task.context_id, event))


def _whole_task(log: EventLog) -> str:
    return json_text.dumps(v0_3.task_out(v1_0.task(log.view()[0])))
