"""The receivers of callbacks during the day: one takes most at once, another is gone."""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random

from timeline import Story, Timeline

from mailbox.life import callbacks
from mailbox.life.callbacks import CallbackOutcome
from mailbox.models import PushDelivery

TRIPS = "https://agency.example/hooks/trips"
GONE = "https://old-crm.example/a2a"
FAILS = 0.2  # the share of attempts that fail
NO_MORE_FAILURES = timedelta(minutes=20)  # before now: a later failure would leave a callback to the live hub
SHORT, LONG = 15.0, 300.0  # seconds between two looks, with callbacks to come and without


class Hooks:
    """The carrier of callbacks in a day that ends ``now``."""

    def __init__(self, timeline: Timeline, chance: Random, now: datetime) -> None:
        self._timeline, self._chance, self._now = timeline, chance, now

    def carry(self) -> Story:
        while True:
            self.deliver()
            yield SHORT if PushDelivery.objects.due_after(self._timeline.now).exists() else LONG

    def deliver(self) -> None:
        """Attempt each callback that is due."""
        for delivery in callbacks.claim_due(limit=20):
            callbacks.report(delivery, self._outcome(delivery))

    def _outcome(self, delivery: PushDelivery) -> CallbackOutcome:
        if delivery.url == GONE:
            return CallbackOutcome(status=410, problem="the receiver answered 410 Gone")
        if self._chance.random() < FAILS and self._timeline.now < self._now - NO_MORE_FAILURES:
            return CallbackOutcome(status=502, problem="the receiver answered 502 Bad Gateway")
        return CallbackOutcome(status=200)
