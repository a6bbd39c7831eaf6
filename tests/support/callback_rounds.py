"""Rounds of the callback sender, run in the thread of the test."""

from concurrent.futures import FIRST_COMPLETED, wait

from mailbox.background.callback_sender import CallbackSender


def deliver_due():
    """Make one attempt at every due delivery and record its outcome; return the number of attempts."""
    sender = CallbackSender()
    begun = sender.look_around()
    sender.finish()
    return begun


def deliver_until(sender, condition):
    """Run rounds of the sender until the condition holds. Each round begins when an attempt has ended."""
    sender.look_around()
    while not condition():
        wait(sender._under_way, return_when=FIRST_COMPLETED)
        sender.look_around()
