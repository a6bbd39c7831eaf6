"""A courier's work, done here and now."""

from __future__ import annotations

from mailbox.background.callback_sender import Courier
from tests.support.hub import wait_until


def deliver_due():
    """Make one attempt at every delivery that is due, and report each; return how many were begun."""
    courier = Courier()
    begun = courier.look_around()
    courier.finish()
    return begun


def deliver_until(courier, condition):
    """Let the courier go on until the condition holds; fail when it does not come to hold."""

    def holds():
        courier.look_around()
        return condition()

    wait_until(holds)
