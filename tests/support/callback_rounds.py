"""Rounds of the courier, run in the thread of the test."""

from concurrent.futures import FIRST_COMPLETED, wait

from mailbox.background.courier import Courier
from mailbox.life import outbox


def deliver_due():
    """Make one attempt at every due delivery and record its outcome; return the number of attempts."""
    courier = Courier()
    begun = courier.look_around()
    courier.finish()
    return begun


def claim_callbacks(limit, slots=None):
    """Claim due callbacks for one attempt each, as the courier does."""
    return outbox.claim(outbox.due(limit=limit, slots=slots).callbacks)


def deliver_until(courier, condition):
    """Run rounds of the courier until the condition holds. Each round begins when an attempt has ended."""
    courier.look_around()
    while not condition():
        wait(courier._under_way, return_when=FIRST_COMPLETED)
        courier.look_around()
