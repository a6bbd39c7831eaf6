"""Tasks of agents that speak the official protocol, carried to a server on the loopback, and what comes back."""

from datetime import timedelta

import pytest
from django.utils import timezone

from agentcards import remote_calls
from agentcards.models import RemoteCall
from mailbox.models import Artifact, Message
from mailbox.outbound import event_streams
from mailbox.outbound.errors import NotReachedError
from tests.support.official_agents import BINDINGS, OLDER
from tests.support.official_rounds import (
    follow_all,
    look_until_done,
    made,
    said,
    sent,
)
from tests.support.remote_rounds import result_of, submit_all

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("now")]


@pytest.mark.parametrize("binding", BINDINGS)
def test_messages_artifacts_and_the_result_come_back_over_each_binding(offie, olive, alice, now, binding):
    offie.binding = binding
    task = sent(alice, olive, "work")

    submit_all()
    look_until_done(now, task)

    assert result_of(task).status == "ok"
    assert said(task) == [("agent", "step 1"), ("agent", "done")]
    assert made(task) == {"out": "echo: work"}
    assert [row.append for row in Artifact.objects.filter(task=task).in_order()] == [False, True]
    assert offie.sent[0]["parts"] == [{"text": "work"}]
    assert offie.operations[0] == "SendMessage"
    assert not RemoteCall.objects.exists()


@pytest.mark.parametrize(
    ("text", "status", "error"),
    [
        ("fail", "error", "no ink"),
        ("reject", "error", "not mine"),
        ("cancelled", "error", "the remote agent cancelled the task"),
        ("bare", "ok", None),
    ],
)
def test_each_end_of_a_remote_task_is_the_result(offie, olive, alice, now, text, status, error):
    task = sent(alice, olive, text)

    submit_all()
    look_until_done(now, task)

    assert (result_of(task).status, result_of(task).error_message) == (status, error)
    assert task.outcome == ("rejected" if text == "reject" else status)


def test_a_direct_message_is_a_direct_answer(offie, olive, alice):
    task = sent(alice, olive, "message")

    submit_all()

    task.refresh_from_db()
    assert task.is_direct
    assert result_of(task).blocks == [{"type": "text", "text": "message: at once"}]


def test_progress_comes_back_as_progress(offie, olive, alice, now):
    task = sent(alice, olive, "progress")

    submit_all()
    look_until_done(now, task)

    (message,) = Message.objects.filter(task=task)
    assert ((message.progress or {})["value"], message.words) == (0.5, [{"type": "text", "text": "half"}])


def test_a_stream_posts_each_chunk_as_it_comes(offie, olive, alice):
    offie.streams = True
    task = sent(alice, olive, "work")
    submit_all()

    follow_all()

    assert "SubscribeToTask" in offie.operations
    assert "GetTask" not in offie.operations
    assert (result_of(task).status, made(task)) == ("ok", {"out": "echo: work"})
    assert said(task) == [("agent", "step 1"), ("agent", "done")]


def test_an_agent_without_a_working_stream_is_polled(offie, olive, alice, now):
    offie.streams = True
    task = sent(alice, olive, "work")
    submit_all()
    offie.operate, operate = lambda *_: {"id": ""}, offie.operate
    follow_all()
    offie.operate = operate

    assert not remote_calls.follows(RemoteCall.objects.get())
    look_until_done(now, task)
    assert result_of(task).status == "ok"


def test_a_cut_stream_and_the_next_turn_post_nothing_twice(offie, olive, alice, now, monkeypatch):
    offie.streams = True
    task = sent(alice, olive, "work")
    submit_all()
    monkeypatch.setattr(remote_calls, "FOLLOW_WITHIN", timedelta(seconds=0.3))
    offie.gate.clear()
    follow_all()
    assert said(task) == [("agent", "step 1")]
    offie.gate.set()

    follow_all()
    look_until_done(now, task)

    assert said(task) == [("agent", "step 1"), ("agent", "done")]
    assert made(task) == {"out": "echo: work"}


def test_a_second_carrier_polls_on_and_posts_nothing_twice(offie, olive, alice):
    task = sent(alice, olive, "work")
    (call,) = submit_all()
    first, second = (RemoteCall.objects.get(pk=call.pk) for _ in range(2))

    remote_calls.look(first)
    offie.scripts[next(iter(offie.tasks))].clear()
    remote_calls.look(second)

    assert said(task) == [("agent", "step 1")]


def test_a_stream_of_0_3_is_not_followed(offie, olive, alice):
    offie.binding, offie.streams = OLDER, True
    sent(alice, olive, "never")
    submit_all()

    assert not remote_calls.follows(RemoteCall.objects.get())


def test_after_its_time_a_call_is_polled_once_more_and_not_followed(offie, olive, alice, now):
    offie.streams = True
    task = sent(alice, olive, "bare")
    submit_all()
    assert remote_calls.follows(RemoteCall.objects.get())
    now.shift(RemoteCall.OFFICIAL_TIMEOUT)

    assert not remote_calls.follows(RemoteCall.objects.get())
    follow_all()

    assert offie.operations == ["SendMessage", "GetTask"]
    assert result_of(task).status == "ok"


def test_an_agent_that_is_away_for_a_moment_is_followed_again(offie, olive, alice, now, monkeypatch):
    offie.streams = True
    task = sent(alice, olive, "work")
    submit_all()
    with monkeypatch.context() as patched:
        patched.setattr(event_streams, "opened", refused)
        follow_all()
    (call,) = RemoteCall.objects.all()
    assert call.next_look_at == timezone.now() + remote_calls.LOOK_EVERY
    assert remote_calls.follows(call)

    now.shift(3)
    follow_all()

    assert result_of(task).status == "ok"


def refused(*_, **__):
    raise NotReachedError("no answer")
