"""Tasks of remote agents, submitted to a server on the loopback, and their results."""

from datetime import timedelta

import pytest
from django.db import OperationalError
from django.utils import timezone

from agentcards import client, profiles, remote_calls
from agentcards.models import AgentProfile, RemoteCall
from mailbox.access.callers import Caller
from mailbox.inspection import tasks
from mailbox.life import expiry, updates
from mailbox.models import Lease, Message, Result
from mailbox.outbound import exchange
from mailbox.outbound.errors import ExternalServiceError
from tests.support import factories
from tests.support.remote_rounds import claim_all, look_all, result_of, submit_all, take_all
from tests.support.remote_servers import raw_server
from tests.support.wire_tap import tapped

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("now")]

PROGRESS = "a2a_task_updated"


def said(task):
    told = (message.blocks[0] for message in Message.objects.filter(task=task).in_order())
    return [block["text"] for block in told if "text" in block]


def fault(*_, **__):
    raise KeyError


def test_a_remote_task_s_result_is_posted_to_the_mailbox(remote, rita, alice):
    task = factories.sent_task(alice, rita, intent_text="summarize this")

    submit_all()
    look_all()

    assert result_of(task).status == "ok"
    assert result_of(task).blocks == [{"type": "text", "text": "summarize this: done"}]
    assert result_of(task).posted_by == factories.row_of(rita)
    assert remote.bodies == [{"params": {"message": "summarize this", "timeoutMs": 300000}}]
    assert factories.life_of(task) == ["a2a_task_sent", "a2a_task_leased", PROGRESS, "a2a_result_posted"]
    assert {event.source for event in tasks.timeline(alice, task.uuid).items[1:]} == {"scheduler"}
    assert not RemoteCall.objects.exists()


def test_messages_of_the_remote_agent_are_posted_while_it_works(remote, rita, alice, now):
    remote.looks = 2
    task = factories.sent_task(alice, rita, intent_text="work")
    submit_all()
    (remote_id,) = remote.tasks

    look_all()
    after_one = said(task)
    now.shift(3)
    look_all()
    after_two = said(task)
    now.shift(3)
    look_all()

    assert (after_one, after_two, said(task)) == (["step 1"], ["step 1", "step 2"], ["step 1", "step 2"])
    assert result_of(task).blocks == [{"type": "text", "text": "work: done"}]
    (began, *_) = [block for message in Message.objects.filter(task=task).in_order() for block in message.blocks]
    assert began["note"] == f"submitted to {remote.url.removeprefix('http://')} as {remote_id}"


def test_each_poll_every_3_seconds_is_a_heartbeat(remote, rita, alice, now):
    task = factories.sent_task(alice, rita, intent_text="never")
    submit_all()
    look_all()
    remote.poll_status = 500
    now.shift(2.9)
    too_early = look_all()
    now.shift(0.1)
    failed = look_all()
    remote.poll_status = 200
    now.shift(3)
    look_all()

    assert (len(too_early), len(failed)) == (0, 1)
    lease = Lease.objects.get(task=task)
    assert lease.last_seen_at - lease.leased_at == timedelta(seconds=6)


def test_a_failed_remote_task_is_an_error_with_its_last_message(remote, rita, alice):
    task = factories.sent_task(alice, rita, intent_text="fail")

    submit_all()
    look_all()

    assert (result_of(task).status, result_of(task).error_message) == ("error", "no ink")


def test_a_rejected_submission_is_an_error_and_not_repeated(remote, rita, alice):
    task = factories.sent_task(alice, rita, intent_text="refuse")

    submit_all()
    submit_all()

    assert (result_of(task).error_message or "").startswith("Submit failed: HTTP 429 — {")
    assert len(remote.bodies) == 1


def test_a_lost_answer_to_a_submission_is_an_error_and_not_repeated(rita, alice):
    with raw_server(lambda connection, over: None) as url, tapped() as connections:
        url = f"{url}/secret"
        profiles.update_profile(Caller.command_line(), factories.row_of(rita), {"remote_url": url})
        task = factories.sent_task(alice, rita)
        submit_all()
        submit_all()

    assert (result_of(task).error_message or "").startswith(f"A2A: no answer from {url[7:-7]}/a2a/tasks/send")
    assert len(connections) == 1


def test_an_agent_whose_url_is_now_blocked_is_not_called(rita, alice, settings):
    settings.A2A_OUTBOUND_ALLOW = []
    task = factories.sent_task(alice, rita)

    with tapped() as connections:
        submit_all()

    assert result_of(task).error_message == "Blocked URL: 127.0.0.1 is not allowed"
    assert connections == []


@pytest.mark.parametrize("url", ["http://xn--127/path", "http://:sekret%0A@host.example/path"])
def test_the_error_for_an_unusable_stored_url_does_not_show_the_url(rita, alice, url):
    AgentProfile.objects.update(remote_url=url)
    task = factories.sent_task(alice, rita)

    submit_all()

    assert result_of(task).error_message == "the hub cannot call this agent's URL"


def test_library_error_texts_are_hidden_from_the_sender(rita, alice, monkeypatch):
    def fail(*_, **__):
        raise ExternalServiceError("no answer from http://127.0.0.1", detail="Illegal header value b'Bearer sekret'")

    monkeypatch.setattr(exchange, "exchange", fail)
    task = factories.sent_task(alice, rita)

    submit_all()

    assert result_of(task).error_message == "A2A: no answer from http://127.0.0.1"


def test_an_internal_error_before_the_submission_succeeded_ends_the_task(rita, alice, monkeypatch):
    monkeypatch.setattr(client, "submit", fault)
    task = factories.sent_task(alice, rita)

    submit_all()

    assert (result_of(task).status, result_of(task).error_message) == ("error", "the hub itself failed: KeyError")


def test_an_internal_error_after_the_submission_does_not_stop_polling(remote, rita, alice, monkeypatch):
    task = factories.sent_task(alice, rita, intent_text="work")

    with monkeypatch.context() as patched:
        patched.setattr(updates, "post_updates", fault)
        submit_all()
    look_all()

    assert (result_of(task).status, len(remote.bodies)) == ("ok", 1)


def test_messages_after_a_failed_post_are_posted_by_the_next_poll_once(remote, rita, alice, now, monkeypatch):
    remote.looks = 3
    task = factories.sent_task(alice, rita, intent_text="work")
    submit_all()
    (shown,) = remote.tasks.values()
    remote._say(shown, "early")
    acts = iter([updates.post_updates, fault])

    with monkeypatch.context() as patched:
        patched.setattr(updates, "post_updates", lambda *parts, **named: next(acts)(*parts, **named))
        with pytest.raises(KeyError):
            look_all()
    now.shift(60)
    look_all()

    assert said(task) == ["early", "step 1", "step 2"]


def test_the_work_timeout_bounds_the_call(remote, rita, alice, now):
    task = factories.sent_task(alice, rita, intent_text="never", work_timeout=timedelta(seconds=4))
    submit_all()
    look_all()
    now.shift(4)
    look_all()

    assert result_of(task).error_message == "Task timed out"
    assert remote.bodies[0]["params"]["timeoutMs"] == 4000


def test_a_poll_after_the_sweep_expired_the_task_changes_nothing(remote, rita, alice, now):
    task = factories.sent_task(alice, rita, intent_text="never", work_timeout=timedelta(seconds=4))
    submit_all()
    now.shift(4)
    (call,) = claim_all()
    expiry.sweep(Caller.local())
    remote_calls.look(call)

    assert result_of(task).error_message == "Task timed out"


def test_the_deadline_bounds_the_call(remote, rita, alice, now):
    deadline_ms = int(timezone.now().timestamp() * 1000) + 2500
    task = factories.sent_task(alice, rita, intent_text="work", deadline_ms=deadline_ms)
    submit_all()
    now.shift(2.5)
    look_all()

    assert result_of(task).error_message == "Timed out after 2500ms"
    assert len(remote.requests) == 1


def test_a_task_that_ended_during_an_outage_of_the_hub_keeps_its_result_after_its_time(remote, rita, alice, now):
    task = factories.sent_task(alice, rita, intent_text="work")
    submit_all()
    now.shift(3600)
    look_all()

    assert result_of(task).blocks == [{"type": "text", "text": "work: done"}]


@pytest.mark.parametrize(("text", "status"), [("never", 200), ("work", 500)])
def test_the_last_poll_after_the_time_of_a_call_ends_it(remote, rita, alice, now, text, status):
    task = factories.sent_task(alice, rita, intent_text=text)
    submit_all()
    remote.poll_status = status
    now.shift(3600)
    look_all()

    assert result_of(task).error_message == "Timed out after 300000ms"
    assert len(remote.requests) == 2


@pytest.mark.parametrize(("failure", "ends"), [(KeyError, True), (OperationalError, False)])
def test_a_bug_in_the_last_poll_ends_the_call_and_an_outage_does_not(
    remote, rita, alice, now, monkeypatch, failure, ends
):
    def fail(*_, **__):
        raise failure

    task = factories.sent_task(alice, rita, intent_text="work")
    submit_all()
    now.shift(3600)
    with monkeypatch.context() as patched:
        patched.setattr(client, "look", fail)
        with pytest.raises(failure):
            look_all()
    assert Result.objects.filter(task=task).exists() == ends
    now.shift(60)
    look_all()

    assert result_of(task).error_message == ("Timed out after 300000ms" if ends else None)


@pytest.mark.parametrize(("timeout", "told"), [(0.1, 1000), (2, 2000), (3600, 600_000)])
def test_the_timeout_sent_to_the_remote_agent_stays_within_its_bounds(remote, rita, alice, timeout, told):
    factories.sent_task(alice, rita, work_timeout=timedelta(seconds=timeout))

    submit_all()

    assert remote.bodies[0]["params"]["timeoutMs"] == told


def test_a_poll_answer_that_is_too_large_is_an_error_at_once(remote, rita, alice, monkeypatch):
    monkeypatch.setattr(remote, "_show", lambda _: (200, b" " * 2**21))
    task = factories.sent_task(alice, rita, intent_text="work")

    submit_all()
    look_all()

    assert result_of(task).error_message == "A2A: the answer is larger than 1 MiB"


def test_the_skill_is_sent_with_the_task(remote, rita, alice):
    factories.sent_task(alice, rita, metadata={"skill": "web"})

    submit_all()

    assert remote.bodies[0]["params"]["skill"] == "web"


def test_a_clock_that_ran_a_day_ahead_does_not_park_a_poll(remote, rita, alice, now):
    task = factories.sent_task(alice, rita)
    submit_all()
    now.shift(86_400)
    (call,) = RemoteCall.objects.all()
    call.claim(timezone.now() + remote_calls.LOOK_LASTS)
    now.shift(-86_400)

    look_all()

    assert result_of(task).status == "ok"


def test_an_interrupted_submission_of_a_clock_that_ran_ahead_takes_no_place(remote, rita, alice, now):
    factories.sent_task(alice, rita)
    now.shift(86_400)
    take_all()
    now.shift(-86_400)

    assert not RemoteCall.objects.at_work(timezone.now()).exists()
