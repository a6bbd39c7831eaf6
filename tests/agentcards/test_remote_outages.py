"""Tasks of a remote agent that cannot be reached wait for it, since it has received nothing of them."""

import socket
from datetime import timedelta

import pytest
from django.utils import timezone

from agentcards import profiles, remote_calls
from agentcards.models import RemoteCall, RemoteOutage
from mailbox.access.callers import Caller
from mailbox.inspection import tasks
from mailbox.life import expiry
from mailbox.models import Lease, Task
from mailbox.words.times import epoch_ms
from tests.support import factories
from tests.support.remote_rounds import look_all, result_of, submit_all, take_all
from tests.support.remote_servers import corvid, raw_server
from tests.support.wire_tap import tapped

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("now")]

RELEASED = "a2a_task_released"
PORT = 29_999  # of connections in memory


@pytest.fixture(autouse=True)
def _may_call_this_machine(settings):
    settings.A2A_OUTBOUND_ALLOW = ["127.0.0.0/8"]


@pytest.fixture
def rita():
    """Register the remote agent rita, whose server does not run; return her as a caller."""
    caller = factories.agent("rita")
    move(caller, f"http://127.0.0.1:{PORT}/secret")
    return caller


def move(agent, url):
    profiles.update_profile(Caller.command_line(), factories.row_of(agent), {"remote_url": url})


def reasons(alice, task):
    return [event.fields["reason"] for event in tasks.timeline(alice, task.uuid).items if event.kind == RELEASED]


def test_a_task_waits_for_an_agent_that_is_away_and_is_submitted_once(rita, alice, now):
    task = factories.sent_task(alice, rita, intent_text="work")
    submit_all()
    task.refresh_from_db()
    assert task.state == Task.State.QUEUED

    with corvid(PORT) as remote:
        with tapped() as connections:
            submit_all()
        now.shift(1)
        submit_all()
        look_all()

        assert connections == []
        assert [body["params"]["message"] for body in remote.bodies] == ["work"]
    assert result_of(task).status == "ok"
    assert reasons(alice, task) == [
        f"no connection to 127.0.0.1:{PORT}, so nothing was submitted; the next call is due at 2026-01-01T12:00:01Z"
    ]
    assert [lease.attempt for lease in Lease.objects.order_by("pk")] == [1, 2]
    assert not RemoteOutage.objects.exists()


def test_the_pauses_double_up_to_five_minutes(rita, alice, now):
    factories.sent_task(alice, rita)
    pauses = []
    for _ in range(12):
        assert len(submit_all()) == 1
        pause = RemoteOutage.objects.get().next_call_at - timezone.now()
        pauses.append(pause.total_seconds())
        now.shift(pause)

    assert pauses == [1, 1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]


def test_calls_that_fail_together_put_the_agent_off_once(rita, alice):
    for _ in range(3):
        factories.sent_task(alice, rita)

    for call in take_all():
        remote_calls.submit(call)

    assert RemoteOutage.objects.get().next_call_at == timezone.now() + timedelta(seconds=1)
    assert Lease.objects.live().count() == 0


def test_the_other_agents_are_called_meanwhile(rita, alice):
    factories.sent_task(alice, rita)
    with corvid() as remote:
        bella = factories.agent("bella")
        move(bella, remote.url)
        other = factories.sent_task(alice, bella)
        submit_all()
        submit_all()
        look_all()

    assert result_of(other).status == "ok"


def test_a_new_url_is_called_at_once(rita, alice):
    task = factories.sent_task(alice, rita)
    submit_all()
    with corvid() as remote:
        move(rita, remote.url)
        submit_all()
        look_all()

    assert result_of(task).status == "ok"


def test_after_a_day_without_a_connection_the_task_ends_as_an_error(rita, alice, now):
    old = factories.sent_task(alice, rita)
    submit_all()
    now.shift(timedelta(hours=23))
    young = factories.sent_task(alice, rita)
    now.shift(timedelta(hours=1))
    submit_all()

    assert result_of(old).error_message == f"no connection to 127.0.0.1:{PORT} for a day; nothing was submitted"
    young.refresh_from_db()
    assert young.state == Task.State.QUEUED


def test_a_waiting_task_ends_at_its_own_deadline(rita, alice, now):
    task = factories.sent_task(alice, rita, deadline_ms=epoch_ms(timezone.now()) + 500)
    submit_all()
    now.shift(1)
    expiry.sweep(Caller.command_line())

    task.refresh_from_db()
    assert task.outcome == Task.Outcome.EXPIRED
    assert submit_all() == []


def test_a_failed_tls_handshake_submits_nothing(rita, alice):
    task = factories.sent_task(alice, rita)
    with raw_server(lambda connection, over: connection.sendall(b"no TLS here")) as url:
        move(rita, url.replace("http:", "https:"))
        submit_all()

    assert len(reasons(alice, task)) == 1


def test_an_unknown_host_submits_nothing(rita, alice, monkeypatch):
    def fail(*_, **__):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    task = factories.sent_task(alice, rita)
    move(rita, "http://nowhere.example")
    monkeypatch.setattr(socket, "getaddrinfo", fail)
    submit_all()

    assert len(reasons(alice, task)) == 1


def test_a_cut_after_the_request_still_ends_the_task(rita, alice):
    with raw_server(lambda connection, over: None) as url:
        move(rita, url)
        task = factories.sent_task(alice, rita)
        submit_all()

    assert result_of(task).status == "error"
    assert reasons(alice, task) == []


def test_a_pause_set_by_a_clock_that_was_ahead_does_not_count(rita, alice, now):
    factories.sent_task(alice, rita)
    now.shift(timedelta(days=1))
    submit_all()
    now.shift(timedelta(days=-1))

    assert len(submit_all()) == 1
    assert RemoteOutage.objects.get().since == timezone.now()
    assert not RemoteCall.objects.at_work(timezone.now()).exists()
