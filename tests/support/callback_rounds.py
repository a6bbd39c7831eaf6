"""Rounds of the callback sender, run in the thread of the test."""

from __future__ import annotations

from mailbox.background.callback_sender import CallbackSender
from tests.support.hub import wait_until


def deliver_due():
    """Make one attempt at every due delivery and record its outcome; return the number of attempts."""
    sender = CallbackSender()
    begun = sender.look_around()
    sender.finish()
    return begun


def deliver_until(sender, condition):
    """Run rounds of the sender until the condition holds; fail if it does not within the patience of tests."""

    def holds():
        sender.look_around()
        return condition()

    wait_until(holds)
