"""A courier's work, done here and now."""

from __future__ import annotations

import time

from mailbox.courier import Courier


def deliver_due():
    """Make one attempt at every delivery that is due, and report each; return how many were begun."""
    courier = Courier()
    begun = courier.look_around()
    courier.finish()
    return begun


def deliver_until(courier, condition, *, within=5.0):
    """Let the courier go on until the condition holds; return the seconds that took."""
    began = time.monotonic()
    while not condition():
        assert time.monotonic() - began < within
        courier.look_around()
        time.sleep(0.02)
    return time.monotonic() - began
