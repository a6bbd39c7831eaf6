import pytest
from django.utils import timezone

from a2aproject.web import bodies
from mailbox.database import waiting
from mailbox.database.bell import waiters
from mailbox.database.waiting import Seats
from mailbox.inspection.health import checks
from mailbox.inspection.health.checks import HealthStatus

pytestmark = pytest.mark.one_database


@pytest.fixture
def seats(monkeypatch, settings):
    """Return the seats of a process with 64 threads."""
    settings.WEB_THREADS = 64
    monkeypatch.setattr(waiting, "seats", Seats())
    return waiting.seats


@pytest.mark.parametrize(("threads", "all_"), [(1, 0), (8, 4), (63, 31), (64, 32), (100, 68), (1024, 896)])
def test_an_eighth_of_the_threads_and_at_least_32_are_no_seats(settings, threads, all_):
    settings.WEB_THREADS = threads

    assert Seats().all == all_


def test_the_seats_are_counted_until_the_wait_ends(seats):
    with seats.seat() as first, seats.seat() as second:
        assert (first, second, seats.taken) == (True, True, 2)
        assert checks.seats(timezone.now()).saw == "2 of 32 taken, 0 requests refused (this process)"
    with pytest.raises(ZeroDivisionError), seats.seat():
        raise ZeroDivisionError
    assert seats.taken == 0


def test_a_refused_seat_degrades_the_health_for_a_while(seats, settings, monkeypatch):
    assert checks.seats(timezone.now()).word is HealthStatus.OK
    settings.WEB_THREADS = 1
    with seats.seat() as is_free:
        assert not is_free

    seen = checks.seats(timezone.now())
    assert (seen.word, seen.saw) == (HealthStatus.DEGRADED, "0 of 0 taken, 1 requests refused (this process)")
    monkeypatch.setattr(checks, "LATELY", -1)
    assert checks.seats(timezone.now()).word is HealthStatus.OK


def test_bodies_leave_threads_free_when_the_seats_are_taken(seats):
    assert bodies.share() == 16
    seats.taken = 32
    assert bodies.share() == 16
    seats.taken = 40  # as with more seats
    assert bodies.share() == 8
    seats.taken = 64
    assert bodies.share() == 1


@pytest.mark.parametrize(
    ("threads", "taken", "share"),
    [(1, 0, 1), (2, 1, 1), (4, 0, 3), (4, 2, 1), (8, 0, 6), (8, 4, 3), (64, 0, 48), (64, 32, 24), (1024, 896, 96)],
)
def test_young_bodies_leave_a_quarter_of_the_threads_free_of_waits(seats, settings, threads, taken, share):
    settings.WEB_THREADS = threads
    seats.taken = taken

    assert bodies.brief_share() == share >= bodies.share()


def test_the_wake_ups_of_this_process_are_shown(settings, monkeypatch):
    def word_and_finding():
        seen = checks.wake_ups(timezone.now())
        return seen.word.value, seen.saw

    assert word_and_finding() == ("ok", "no thread is waiting in this process")
    with waiters.waiting(["agent 1"]):
        assert word_and_finding() == ("degraded", "by looks every 0.25 s")
        monkeypatch.setattr(waiters, "is_hearing", lambda: True)
        assert word_and_finding() == ("ok", "by rings")
    settings.A2A_WAKE_UPS = "poll"
    assert word_and_finding() == ("ok", "by looks every 0.25 s, since A2A_WAKE_UPS is poll")
