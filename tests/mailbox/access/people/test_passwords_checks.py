from datetime import timedelta

import pytest
import time_machine

from mailbox.access.people import passwords
from mailbox.access.people.passwords import DELAY, OF_A_NAME, OF_AN_ADDRESS, TICKET_LASTS, NotYetError

pytestmark = pytest.mark.one_database

HERE = "192.0.2.7"


def check(name="ana", address=HERE, ticket=""):
    """Return the refusal of a check; None if it was begun."""
    try:
        with passwords.admitted(name, address, ticket):
            return None
    except NotYetError as later:
        return later


def guess_often(name):
    """Fail as often as a name may within an hour, each time from another network."""
    for number in range(OF_A_NAME.burst):
        passwords.failed(name, f"2001:db8:{number:x}::1")


def test_an_address_with_too_many_failures_waits_and_others_do_not():
    for number in range(OF_AN_ADDRESS.burst):
        passwords.failed(f"guess {number}", HERE)

    later = check()
    assert later is not None
    assert (later.retry_after, later.is_busy, later.ticket) == (2, False, "")
    assert check(address="192.0.2.8") is None


def test_a_whole_ipv6_network_counts_as_one_address():
    for number in range(OF_AN_ADDRESS.burst):
        passwords.failed(f"guess {number}", f"2001:db8::{number + 1:x}")

    assert check(address="2001:db8::ffff:1") is not None
    assert check(address="2001:db8:0:1::1") is None


@pytest.mark.parametrize("name", ["ana", "nobody"])
def test_a_name_with_too_many_failures_asks_for_a_delay_and_is_not_locked(name):
    with time_machine.travel("2026-01-01T12:00Z", tick=False) as clock:
        guess_often(name)
        asked = check(name)
        assert asked is not None
        at_once = check(name, ticket=asked.ticket)
        guess_often(name)
        clock.shift(timedelta(seconds=DELAY))

        assert (asked.retry_after, asked.is_busy) == (DELAY, False)
        assert at_once is not None
        assert check(name.upper(), ticket=asked.ticket) is None


def test_a_ticket_fits_its_name_its_address_and_its_time_only():
    with time_machine.travel("2026-01-01T12:00Z", tick=False) as clock:
        guess_often("ana")
        guess_often("ben")
        asked = check()
        assert asked is not None
        clock.shift(timedelta(seconds=DELAY))

        assert check("ben", ticket=asked.ticket) is not None
        assert check(address="192.0.2.8", ticket=asked.ticket) is not None
        assert check(ticket=f"{asked.ticket}x") is not None
        assert check(ticket=asked.ticket) is None
        clock.shift(timedelta(seconds=TICKET_LASTS + 1))
        assert check(ticket=asked.ticket) is not None


def test_a_name_with_too_many_failures_delays_no_other():
    guess_often("ana")

    assert check("ben") is None
    assert check("ana") is not None
