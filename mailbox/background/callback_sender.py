"""Callbacks on their way out: signed, through the outbound guard, a bounded number at once."""

from __future__ import annotations

import base64
import hashlib
import hmac
import logging
import threading
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from django.db import InterfaceError, OperationalError, connections
from django.utils import timezone

from mailbox.models import PushDelivery
from mailbox.outbound import exchange
from mailbox.outbound.errors import BlockedUrlError, ExternalServiceError
from mailbox.verbs.life import callbacks
from mailbox.verbs.life.callbacks import Outcome
from mailbox.words import secret_box
from mailbox.words.envelopes import WEBHOOK_KEY

TIMEOUT = 10.0  # seconds for one attempt, until its status is there: less than `serve` lets a process take to stop
AT_ONCE = 32  # attempts under way together
AT_ONE_RECEIVER = 8  # of them, so that one receiver that hangs delays no other
LOOK_AROUND_EVERY = 0.5  # seconds
READ_OF_ANSWER = 1024  # bytes, for operators who ask why an attempt failed

_logger = logging.getLogger(__name__)


class Courier:
    """One process's part of the work; any number of couriers can share it.

    Only threads of its own wait for receivers. The rows are read and written by the thread that runs it.
    """

    def __init__(self) -> None:
        self._hands = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="courier")
        self._under_way: dict[Future[Outcome], PushDelivery] = {}

    def run(self, stop: threading.Event) -> None:
        """Work until ``stop`` is set, then wait for the attempts that are under way and report them."""
        while not stop.is_set():
            try:
                self.look_around()
            except (OperationalError, InterfaceError):
                _logger.exception("the courier cannot use the database")
                connections.close_all()
                stop.wait(LOOK_AROUND_EVERY * 10)
            if self._under_way:
                wait(self._under_way, timeout=LOOK_AROUND_EVERY, return_when=FIRST_COMPLETED)
            else:
                stop.wait(LOOK_AROUND_EVERY)
        self.finish()

    def look_around(self) -> int:
        """Report the attempts that have ended, then begin those that are due while hands are free; return how many."""
        for ended in [attempt for attempt in self._under_way if attempt.done()]:
            self._report(ended)
        busy = Counter(callbacks.receiver(delivery.url) for delivery in self._under_way.values())
        free = AT_ONCE - len(self._under_way)
        claimed = callbacks.claim_due(limit=free, busy=busy, at_one_receiver=AT_ONE_RECEIVER) if free else []
        for delivery in claimed:
            self._under_way[self._hands.submit(attempt, delivery)] = delivery
        return len(claimed)

    def finish(self) -> None:
        """Wait for the attempts that are under way and report each."""
        self._hands.shutdown()
        for ended in list(self._under_way):
            self._report(ended)

    def _report(self, ended: Future[Outcome]) -> None:
        """Record what came of an attempt; while the database is away it stays to be reported."""
        delivery = self._under_way[ended]
        if (failure := ended.exception()) is not None:
            _logger.error("the courier failed at %s", delivery.delivery_id, exc_info=failure)
            outcome = Outcome(status=None, problem=f"the hub itself failed: {type(failure).__name__}")
        else:
            outcome = ended.result()
        try:
            callbacks.report(delivery, outcome)
        except (OperationalError, InterfaceError):
            raise
        except Exception:
            _logger.exception("what came of an attempt at %s could not be stored", delivery.delivery_id)
        del self._under_way[ended]


def attempt(delivery: PushDelivery) -> Outcome:
    """Send one delivery; whatever goes wrong is an outcome. No row is read or written.

    The receiver is judged by its status alone, whatever it says besides, and however slowly.
    """
    body = delivery.body.encode()
    try:
        secret = secret_box.unseal(delivery.sealed_secret) if delivery.sealed_secret else None
        answer = exchange.exchange(
            "POST",
            delivery.url,
            within=TIMEOUT,
            headers=headers(str(delivery.delivery_id), body, secret),
            content=body,
            glimpse=READ_OF_ANSWER,
        )
    except secret_box.UnreadableSecretError:
        return Outcome(status=None, problem="its secret was encrypted under another SECRET_KEY")
    except (BlockedUrlError, ExternalServiceError) as error:
        return Outcome(status=None, problem=error.message)
    problem = "" if answer.is_success else f"the receiver answered {answer.status}: {answer.text}"
    return Outcome(status=answer.status, problem=problem)


def headers(delivery_id: str, body: bytes, secret: str | None) -> dict[str, str]:
    """Return the headers of one attempt: Agnostic's signature over the bytes, and those of Standard Webhooks.

    Agnostic's key is the secret as it is written. The other one's is the same, or what follows ``whsec_`` in base64.
    """
    found = {"Content-Type": "application/json", "User-Agent": "A2A-Hub/callbacks", "webhook-id": delivery_id}
    stamp = str(int(timezone.now().timestamp()))
    found["webhook-timestamp"] = stamp
    found["Accept-Encoding"] = "identity"
    if secret is None:
        return found
    found["X-Signature"] = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    encoded = secret.removeprefix(WEBHOOK_KEY)
    key = secret.encode() if encoded == secret else base64.b64decode(encoded)
    signed = f"{delivery_id}.{stamp}.".encode() + body
    digest = hmac.new(key, signed, hashlib.sha256).digest()
    found["webhook-signature"] = "v1," + base64.b64encode(digest).decode()
    return found
