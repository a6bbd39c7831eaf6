"""Sends callbacks (webhooks): signed, through the outbound guard, with a bounded number at once."""

import base64
import hashlib
import hmac
import logging
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime, timedelta

from django.db import InterfaceError, OperationalError, connections
from django.utils import timezone

from mailbox.database import waiting
from mailbox.database.bell import topics
from mailbox.life import callbacks
from mailbox.life.callbacks import CallbackOutcome, DeliverySlots
from mailbox.models import PushDelivery
from mailbox.outbound import destinations, exchange
from mailbox.outbound.errors import BlockedUrlError, ExternalServiceError, NoAnswerError
from mailbox.words import secret_box
from mailbox.words.envelopes import WEBHOOK_KEY

TIMEOUT = 10.0  # seconds until an attempt must have a status: less than `serve` gives a process to stop
AT_ONCE = 32  # attempts at the same time
PER_RECEIVER = 8  # attempts at one receiver, so that a receiver that hangs delays no other
PER_SENDER = 8  # attempts for one sender, so that its receivers delay no callback of another sender
MOST_TIMEOUTS = 3  # in a row, after which a receiver is paused
PAUSE = timedelta(minutes=1)
MOST_REMEMBERED = 10_000  # receivers with timeouts
LOOK_AROUND_EVERY = 0.5  # seconds, while a callback is due that no thread or receiver is free for
LONGEST_PAUSE = 10.0  # seconds without a ring, an attempt that ended, or a callback that becomes due
PAUSE_WITHOUT_DATABASE = 5.0  # seconds
READ_OF_ANSWER = 1024  # bytes to keep, so that operators see why an attempt failed

_logger = logging.getLogger(__name__)


class CircuitBreaker:
    """Counts the timeouts in a row of each receiver, and pauses a receiver after `MOST_TIMEOUTS`. It stays in memory.

    After the pause one more timeout pauses the receiver again. Any other outcome forgets its timeouts.
    """

    def __init__(self) -> None:
        self._timeouts: Counter[str] = Counter()
        self._paused: dict[str, datetime] = {}

    def note(self, receiver: str, outcome: CallbackOutcome, now: datetime) -> None:
        if not outcome.timed_out:
            self._timeouts.pop(receiver, None)
            self._paused.pop(receiver, None)
            return
        self._timeouts[receiver] += 1
        if self._timeouts[receiver] >= MOST_TIMEOUTS:
            self._paused[receiver] = now + PAUSE
        if len(self._timeouts) > MOST_REMEMBERED:
            self._timeouts.pop(next(iter(self._timeouts)))

    def paused(self, now: datetime) -> Mapping[str, datetime]:
        """Return the end of the pause of each receiver that is paused."""
        self._paused = {receiver: until for receiver, until in self._paused.items() if until > now}
        return self._paused


class CallbackSender:
    """Sends due callbacks. Any number of processes can run a sender.

    A pool of threads waits for the receivers. Only the thread that runs the sender reads and writes rows.
    """

    things = "callbacks"  # what it sends, for the log

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix=self.things)
        self._under_way: dict[Future[CallbackOutcome], PushDelivery] = {}
        self._breaker = CircuitBreaker()
        self._ring: Callable[[], object] = lambda: None

    def run(self, stop: threading.Event) -> None:
        """Send callbacks until ``stop`` is set. Then wait for the attempts that have begun, and record them."""
        with waiting.rounds(stop) as waiter:
            self._ring = waiter.ring
            while not stop.is_set():
                pause = PAUSE_WITHOUT_DATABASE
                try:
                    waiter.wait_for(self.topics())
                    waiter.look(self.look_around)
                    pause = self.pause_until_due()
                except (OperationalError, InterfaceError):
                    _logger.exception("the sender of %s cannot use the database", self.things)
                    connections.close_all()
                waiter.wait(pause)
        self.finish()

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
        claimed = self.claim(free, slots) if free else []
        for delivery in claimed:
            begun = self._threads.submit(self.attempt, delivery)
            self._under_way[begun] = delivery
            begun.add_done_callback(lambda _: self._ring())
        return len(claimed)

    def finish(self) -> None:
        """Wait for the attempts that have begun, and record each."""
        self._threads.shutdown()
        for ended in list(self._under_way):
            self._report(ended)

    def topics(self) -> Sequence[str]:
        """Return the topics of the bell that ask for a look."""
        return [topics.CALLBACKS]

    def pause_until_due(self) -> float:
        """Return the seconds until the next look, if nothing rings."""
        return callbacks.pause_until_due(shortest=LOOK_AROUND_EVERY, longest=LONGEST_PAUSE)

    def claim(self, limit: int, slots: DeliverySlots) -> Sequence[PushDelivery]:
        """Claim up to ``limit`` due deliveries, as many as ``slots`` allows."""
        return callbacks.claim_due(limit=limit, slots=slots)

    def attempt(self, delivery: PushDelivery) -> CallbackOutcome:
        """Send one delivery and return its outcome, also for errors. Reads and writes no row."""
        return attempt(delivery)

    def store(self, delivery: PushDelivery, outcome: CallbackOutcome) -> None:
        """Record the outcome of an attempt."""
        callbacks.report(delivery, outcome)

    def _report(self, ended: Future[CallbackOutcome]) -> None:
        """Record the outcome of an attempt. While the database is unavailable, the outcome stays for the next try."""
        delivery = self._under_way[ended]
        if (failure := ended.exception()) is not None:
            _logger.error("the hub failed at delivery %s", delivery.delivery_id, exc_info=failure)
            outcome = CallbackOutcome(status=None, problem=f"the hub itself failed: {type(failure).__name__}")
        else:
            outcome = ended.result()
        self._breaker.note(destinations.receiver(delivery.url), outcome, timezone.now())
        try:
            self.store(delivery, outcome)
        except (OperationalError, InterfaceError):
            raise
        except Exception:
            _logger.exception("the outcome of an attempt at delivery %s could not be stored", delivery.delivery_id)
        del self._under_way[ended]


def attempt(delivery: PushDelivery) -> CallbackOutcome:
    """Send one callback and return its outcome, also for errors. Reads and writes no row."""

    def signed(body: bytes) -> dict[str, str]:
        secret = secret_box.unseal(delivery.sealed_secret) if delivery.sealed_secret else None
        return headers(str(delivery.delivery_id), body, secret)

    return posted(delivery, signed)


def posted(delivery: PushDelivery, headers_for: Callable[[bytes], Mapping[str, str]]) -> CallbackOutcome:
    """Post the body of a delivery with the headers for it, and return the outcome, also for errors.

    Only the receiver's status decides. A slow or broken body of its answer does not matter.
    """
    body = delivery.body.encode()
    try:
        answer = exchange.exchange(
            "POST",
            delivery.url,
            within=TIMEOUT,
            headers=headers_for(body),
            content=body,
            glimpse=READ_OF_ANSWER,
        )
    except secret_box.UnreadableSecretError:
        return CallbackOutcome(status=None, problem="its secret was encrypted under another SECRET_KEY")
    except (BlockedUrlError, ExternalServiceError) as error:
        timed_out = isinstance(error, NoAnswerError) and error.timed_out
        return CallbackOutcome(status=None, problem=error.message, timed_out=timed_out)
    problem = "" if answer.is_success else f"the receiver answered {answer.status}: {answer.text}"
    return CallbackOutcome(status=answer.status, problem=problem)


def headers(delivery_id: str, body: bytes, secret: str | None) -> dict[str, str]:
    """Return the headers of one attempt: Agnostic's signature of the body, and the headers of Standard Webhooks.

    The key of Agnostic's signature is the secret's text. The key of Standard Webhooks is the base64 text after
    ``whsec_``, decoded, or the secret's text if it has no such prefix.
    """
    values = {"Content-Type": "application/json", "User-Agent": "A2A-Hub/callbacks", "webhook-id": delivery_id}
    stamp = str(int(timezone.now().timestamp()))
    values["webhook-timestamp"] = stamp
    values["Accept-Encoding"] = "identity"
    if secret is None:
        return values
    values["X-Signature"] = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    encoded = secret.removeprefix(WEBHOOK_KEY)
    key = secret.encode() if encoded == secret else base64.b64decode(encoded)
    signed = f"{delivery_id}.{stamp}.".encode() + body
    digest = hmac.new(key, signed, hashlib.sha256).digest()
    values["webhook-signature"] = "v1," + base64.b64encode(digest).decode()
    return values
