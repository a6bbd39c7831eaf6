"""A web process waits for few bodies at once. One more cuts the longest wait of the address with the most."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from a2aproject.serving import connections
from a2aproject.web.bodies import Body, StalledBody, Waits
from mailbox.dialects.base.transport import STALLED_ANSWER
from mailbox.models import Task
from tests.support import factories
from tests.support.hub import PATIENCE, wait_until

pytestmark = pytest.mark.one_database


class Connection:
    """The web server's side of a connection whose body does not arrive. Its answer ends the wait."""

    def __init__(self) -> None:
        self.ended = threading.Event()
        self.status = 0
        self.headers: dict[str, str] = {}
        self.sent = b""

    def read(self, size: int) -> bytes:
        assert self.ended.wait(PATIENCE)
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
        self.was_cut = False
        before = len(waits)
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()
        wait_until(lambda: self.was_cut or len(waits) > before or any_cut(waits, before))

    def _read(self) -> None:
        try:
            self.body.read(10)
        except StalledBody:
            self.was_cut = True

    def is_cut(self) -> bool:
        self._thread.join(0.01)
        return self.was_cut

    def end(self) -> None:
        self.connection.ended.set()
        self._thread.join(PATIENCE)


def any_cut(waits: Waits, before: int) -> bool:
    """Whether the wait that began cut another one, so that the number stayed."""
    return len(waits) == before and before > 0


@pytest.fixture
def began():
    """Return a function that begins waits; all of them end with the test."""
    made: list[Stalled] = []

    def begin(waits, *addresses, **environ):
        these = [Stalled(waits, address, **environ) for address in addresses]
        made.extend(these)
        return these

    yield begin
    for one in made:
        one.end()


def test_one_wait_too_many_of_an_address_cuts_its_longest(began):
    waits = Waits(most=9, most_per_address=2)

    first, second, other, third = began(waits, "192.0.2.1", "192.0.2.1", "192.0.2.2", "192.0.2.1")

    wait_until(first.is_cut)
    assert not any(one.is_cut() for one in (second, other, third))
    assert len(waits) == 3


def test_one_wait_too_many_of_a_process_cuts_the_address_with_the_most(began):
    waits = Waits(most=3, most_per_address=9)

    other, first, second, newest = began(waits, "192.0.2.2", "192.0.2.1", "192.0.2.1", "192.0.2.3")

    wait_until(first.is_cut)
    assert not any(one.is_cut() for one in (other, second, newest))


def test_a_network_of_ipv6_counts_as_one_address(began):
    waits = Waits(most=9, most_per_address=1)

    first, second = began(waits, "2001:db8::1", "2001:db8::2")

    wait_until(first.is_cut)
    assert not second.is_cut()


def test_a_cut_body_gets_the_views_answer_with_a_length_that_ends_the_connection(began, settings):
    waits = Waits(most=1)
    view_answer = HttpResponse(b"{}", status=503, headers={"Retry-After": "1"}, content_type="application/json")

    first, _ = began(waits, "192.0.2.1", "192.0.2.2", **{STALLED_ANSWER: lambda: view_answer})

    wait_until(first.connection.ended.is_set)
    assert (first.connection.status, first.connection.sent) == (503, b"{}")
    assert first.connection.headers["Retry-After"] == "1"
    assert first.connection.headers["Content-Length"] == "3"


def test_overdue_bodies_are_cut_and_no_others(began, settings):
    waits = Waits(most=9)
    settings.A2A_BODY_TIMEOUT_S = 0
    (overdue,) = began(waits, "192.0.2.1")
    settings.A2A_BODY_TIMEOUT_S = 60
    (young,) = began(waits, "192.0.2.1")

    waits.cut_overdue()

    wait_until(overdue.is_cut)
    assert not young.is_cut()
    assert overdue.connection.sent.startswith(b"The body of the request did not arrive in time.")


def test_the_time_of_a_body_is_counted_from_its_first_read(settings):
    waits = Waits(most=9)
    connection = Connection()
    connection.ended.set()
    body = Body({"wsgi.input": connection, "REMOTE_ADDR": "192.0.2.1"}, waits)
    body.read(1)
    due = body.due

    time.sleep(0.001)
    body.read(1)

    assert body.due == due
    assert len(waits) == 0


def test_a_cut_body_stays_cut(began):
    waits = Waits(most=1)
    first, _ = began(waits, "192.0.2.1", "192.0.2.2")
    wait_until(first.is_cut)

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

    wait_until(connection.ended.is_set)
    assert connection.sent == (b"late" if lingering else b"")


def refused(client: Client, path: str, content: str, content_type: str) -> Any:
    """Post a body that the process may not wait for, through a server whose connections cannot be cut."""
    body = Body({"wsgi.input": Connection(), "REMOTE_ADDR": "192.0.2.1"}, Waits(most=0))
    extra: dict[str, Any] = {"wsgi.input": body}
    return client.generic("POST", path, content, content_type, **extra)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "path", ["/a2a/tasks", "/a2a/tasks/send", "/api/v1/a2a/receive", "/a2a/inboxes/alice@local/delegate"]
)
def test_where_no_connection_can_be_cut_one_body_too_many_is_refused_in_the_dialects_shape(alice, path, caplog):
    api = Client(headers={"Authorization": f"Bearer {factories.key_of(alice)}"})

    answer = refused(api, path, "{}", "application/json")

    assert (answer.status_code, answer["Retry-After"]) == (503, "1")
    assert "did not arrive in time" in answer.content.decode()
    assert answer["Content-Type"] == "application/json"
    assert not Task.objects.exists()
    assert caplog.records == []  # a stranger cannot fill the log


@pytest.mark.django_db
def test_a_form_that_does_not_arrive_is_answered_with_a_plain_503(caplog):
    browser = Client(enforce_csrf_checks=True)
    browser.get("/ops/sign-in/")

    answer = refused(browser, "/ops/sign-in/", "username=ana", "application/x-www-form-urlencoded")

    assert (answer.status_code, answer["Retry-After"]) == (503, "1")
    assert answer["Content-Type"] == "text/plain; charset=utf-8"
    assert caplog.records == []
