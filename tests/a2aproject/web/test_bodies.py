"""A web process waits for few bodies at once. One more cuts the longest wait of the address with the most."""

import threading
from typing import Any

import pytest
from django.http import HttpResponse

from a2aproject.serving import connections
from a2aproject.web import bodies
from a2aproject.web.bodies import GRACE, HASTE, MOST_PER_ADDRESS, Body, StalledBody, Waits
from mailbox.dialects.base.http_errors import STALLED_ANSWER
from tests.support.pauses import Clock, until

pytestmark = pytest.mark.one_database


class Connection:
    """The web server's side of a connection whose body does not arrive. Its answer ends the wait."""

    def __init__(self) -> None:
        self.is_read, self.ended = threading.Event(), threading.Event()
        self.status = 0
        self.headers: dict[str, str] = {}
        self.sent = b""

    def read(self, size: int) -> bytes:
        self.is_read.set()
        assert self.ended.wait()
        return b""

    def response_iter(self, status, headers, parts):
        self.status, self.headers, self.sent = status, dict(headers), b"".join(parts)
        self.ended.set()


class Stalled:
    """A thread that waits for the body of a request from ``address``."""

    def __init__(self, waits: Waits, address: str, **more: Any) -> None:
        self.connection = Connection()
        environ = more | {"wsgi.input": self.connection, "REMOTE_ADDR": address, connections.HANDLE: self.connection}
        self.body = Body(environ, waits)
        self._was_cut = False
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()
        until(lambda: self._was_cut or self.connection.is_read.is_set())

    def _read(self) -> None:
        try:
            self.body.read(10)
        except StalledBody:
            self._was_cut = True

    @property
    def is_cut(self) -> bool:
        return self.body.is_cut

    def was_cut(self) -> bool:
        """Wait for the end of the read; return whether it raised an error."""
        self._thread.join()
        return self._was_cut

    def end(self) -> None:
        self.connection.ended.set()
        self._thread.join()


def bounded(clock, *, most=99, most_briefly=99, most_per_address=MOST_PER_ADDRESS):
    """Return waits with bounds that stay."""
    return Waits(
        most=lambda: most, most_briefly=lambda: most_briefly, most_per_address=most_per_address, clock=clock.monotonic
    )


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    clock = Clock()
    for module in (bodies, connections):
        monkeypatch.setattr(module, "time", clock)
    return clock


@pytest.fixture
def began(clock):
    """Return a function that begins waits, ``apart`` seconds of the clock each; all of them end with the test."""
    made: list[Stalled] = []

    def begin(waits, *addresses, apart=GRACE, **environ):
        for address in addresses:
            clock.now += apart
            made.append(Stalled(waits, address, **environ))
        return made[-len(addresses) :]

    yield begin
    for one in made:
        one.end()


def test_one_wait_too_many_of_an_address_cuts_its_longest(began, clock):
    waits = bounded(clock, most=9, most_per_address=2)

    first, second, other, third = began(waits, "192.0.2.1", "192.0.2.1", "192.0.2.2", "192.0.2.1")

    assert first.was_cut()
    assert not any(one.is_cut for one in (second, other, third))
    assert len(waits) == 3


def test_one_wait_too_many_of_a_process_cuts_the_address_with_the_most(began, clock):
    waits = bounded(clock, most=3, most_per_address=9)

    other, first, second, newest = began(waits, "192.0.2.2", "192.0.2.1", "192.0.2.1", "192.0.2.3")

    assert first.was_cut()
    assert not any(one.is_cut for one in (other, second, newest))


def test_a_network_of_ipv6_counts_as_one_address(began, clock):
    waits = bounded(clock, most=9, most_per_address=1)

    first, second = began(waits, "2001:db8::1", "2001:db8::2")

    assert first.was_cut()
    assert not second.is_cut


@pytest.mark.parametrize(("most", "most_per_address"), [(2, 9), (9, 2)])
def test_a_body_in_excess_is_cut_once_its_grace_has_passed(began, clock, most, most_per_address):
    waits = bounded(clock, most=most, most_per_address=most_per_address)
    first, second, third = began(waits, *["192.0.2.1"] * 3, apart=0)

    clock.now += GRACE / 2
    waits.cut_late()
    (fourth,) = began(waits, "192.0.2.1", apart=0)
    assert len(waits) == 4

    clock.now += GRACE / 2
    waits.cut_late()
    assert first.was_cut()
    assert second.was_cut()
    assert not any(one.is_cut for one in (third, fourth))
    assert len(waits) == 2


def test_bodies_that_arrive_within_the_grace_are_never_cut(began, clock):
    waits = bounded(clock, most=1)
    arrived = began(waits, *["192.0.2.1"] * 4, apart=0)
    for one in arrived:
        one.end()

    clock.now += GRACE
    began(waits, "192.0.2.1")
    waits.cut_late()

    assert not any(one.is_cut for one in arrived)
    assert len(waits) == 1


def test_near_all_threads_a_short_wait_is_enough_for_the_next_body_to_cut(began, clock):
    waits = bounded(clock, most=1, most_briefly=3)
    first, second, third = began(waits, *["192.0.2.1"] * 3, apart=0)

    clock.now += 2 * HASTE
    waits.cut_late()
    assert len(waits) == 3
    (newest,) = began(waits, "192.0.2.2", apart=0)

    assert first.was_cut()
    assert not any(one.is_cut for one in (second, third, newest))


def test_near_all_threads_bodies_that_came_with_their_headers_are_not_cut(began, clock):
    waits = bounded(clock, most=1, most_briefly=3)

    these = began(waits, *["192.0.2.1"] * 5, apart=HASTE / 10)
    waits.cut_late()
    assert len(waits) == 5
    clock.now += 2 * HASTE
    waits.cut_late()

    assert these[0].was_cut()
    assert these[1].was_cut()
    assert len(waits) == 3  # these have the grace


def test_the_excess_is_cut_without_another_body(began, clock, monkeypatch):
    monkeypatch.setattr(bodies, "PAUSE", None)  # no look without an excess
    waits = bounded(clock, most=1)
    waits.watch()

    first, second = began(waits, "192.0.2.1", "192.0.2.1", apart=HASTE)

    assert first.was_cut()
    assert not second.is_cut


def test_fewer_bodies_may_wait_since_requests_took_seats(began, clock):
    most = 2
    waits = Waits(most=lambda: most, most_briefly=lambda: 9, clock=clock.monotonic)
    first, second = began(waits, "192.0.2.1", "192.0.2.1")

    most = 1
    clock.now += GRACE
    waits.cut_late()

    assert first.was_cut()
    assert not second.is_cut


def test_a_cut_body_gets_the_views_answer_with_a_length_that_ends_the_connection(began, clock):
    waits = bounded(clock, most=1)
    view_answer = HttpResponse(b"{}", status=503, headers={"Retry-After": "1"}, content_type="application/json")

    first, _ = began(waits, "192.0.2.1", "192.0.2.2", **{STALLED_ANSWER: lambda: view_answer})

    first.connection.ended.wait()
    assert (first.connection.status, first.connection.sent) == (503, b"{}")
    assert first.connection.headers["Retry-After"] == "1"
    assert first.connection.headers["Content-Length"] == "3"


def test_overdue_bodies_are_cut_and_no_others(began, clock, settings):
    waits = bounded(clock)
    settings.A2A_BODY_TIMEOUT_S = 0
    (overdue,) = began(waits, "192.0.2.1")
    settings.A2A_BODY_TIMEOUT_S = 60
    (young,) = began(waits, "192.0.2.1")

    waits.cut_late()

    assert overdue.was_cut()
    assert not young.is_cut
    assert overdue.connection.sent.startswith(b"The body of the request did not arrive in time.")


def test_the_time_of_a_body_is_counted_from_its_first_read(clock):
    waits = bounded(clock)
    connection = Connection()
    connection.ended.set()
    body = Body({"wsgi.input": connection, "REMOTE_ADDR": "192.0.2.1"}, waits)
    body.read(1)
    due = body.due

    clock.now += 1
    body.read(1)

    assert body.due == due
    assert len(waits) == 0


def test_a_cut_body_stays_cut(began, clock):
    waits = bounded(clock, most=1)
    first, _ = began(waits, "192.0.2.1", "192.0.2.2")
    assert first.was_cut()

    with pytest.raises(StalledBody):
        first.body.read(1)

    assert len(waits) == 1


@pytest.mark.parametrize("lingering", [0, 1])
def test_without_a_free_place_a_connection_ends_without_an_answer(monkeypatch, lingering):
    monkeypatch.setattr(connections, "_lingering", threading.BoundedSemaphore(1))
    if not lingering:
        connections._lingering.acquire()
    connection = Connection()

    connections.cut({connections.HANDLE: connection}, 503, [], b"late")

    connection.ended.wait()
    assert connection.sent == (b"late" if lingering else b"")
