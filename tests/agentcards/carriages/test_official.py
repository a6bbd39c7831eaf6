"""Tasks of agents that speak the official protocol, carried to a server on the loopback, and what comes back."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from agentcards import profiles, remote_calls
from agentcards.models import RemoteCall, RemoteConversation
from mailbox.gate.callers import Caller
from mailbox.models import Artifact, Lease, Message, Task
from mailbox.outbound.errors import AnswerTooLargeError
from mailbox.verbs.life import conversation, sending
from mailbox.verbs.repairs import repair
from mailbox.words.conversation import Words
from mailbox.words.envelopes import AgentRef, TaskEnvelope
from tests.support import factories
from tests.support.official_agents import BINDINGS, OLDER, REST
from tests.support.official_rounds import cancel_all, follow_all, made, resume_all, said
from tests.support.remote_rounds import look_all, result_of, submit_all, take_all
from tests.support.remote_servers import raw_server

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("now")]


def ask(text):
    return Words(content=[{"type": "text", "text": text}])


def sent(alice, olive, text, **more):
    return sending.send_task(alice, TaskEnvelope(recipient=AgentRef(display="olive@local"), intent_text=text, **more))


def look_until_done(now, task, most=10):
    for _ in range(most):
        look_all()
        task.refresh_from_db()
        if task.state in (Task.State.RESOLVED, Task.State.INTERRUPTED):
            return
        now.shift(3)


def state_of(task):
    task.refresh_from_db()
    return task.state


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


@pytest.mark.parametrize("binding", BINDINGS)
def test_a_question_interrupts_the_task_and_its_answer_goes_on_with_the_same_remote_task(
    offie, olive, alice, now, binding
):
    offie.binding = binding
    task = sent(alice, olive, "ask")
    submit_all()
    look_until_done(now, task)
    assert (state_of(task), task.awaits, said(task)) == ("interrupted", "input", [("agent", "which one?")])
    assert not RemoteCall.objects.exists()

    conversation.say(alice, task.uuid, ask("the red one"))
    submit_all()
    look_until_done(now, task)

    (remote_id,) = offie.tasks
    assert offie.sent[1]["taskId"] == remote_id
    assert offie.sent[1]["contextId"] == offie.tasks[remote_id]["contextId"]
    assert said(task)[1:] == [("user", "the red one"), ("agent", "thanks")]
    assert (result_of(task).status, made(task)) == ("ok", {"out": "answered"})
    assert len({message["messageId"] for message in offie.sent}) == 2


def test_a_question_that_is_shown_again_after_its_answer_is_not_put_again(offie, olive, alice, now):
    task = sent(alice, olive, "ask")
    submit_all()
    look_until_done(now, task)
    conversation.say(alice, task.uuid, ask("the red one"))
    (remote,) = offie.tasks.values()
    submit_all()
    offie.scripts[remote["id"]].insert(0, ("artifact", "slow", "x"))

    look_all()

    assert state_of(task) == "in_flight"


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


def test_a_cancelled_task_is_cancelled_at_the_remote_agent(offie, olive, alice, now):
    task = sent(alice, olive, "never")
    submit_all()
    look_all()

    sending.cancel(alice, task.uuid)
    remote_calls.forget_ended()
    cancel_all()

    (remote,) = offie.tasks.values()
    assert remote["status"]["state"] == "TASK_STATE_CANCELED"
    assert not RemoteConversation.objects.exists()


def test_a_cancel_during_a_question_reaches_the_remote_agent(offie, olive, alice, now):
    offie.binding = REST
    task = sent(alice, olive, "ask")
    submit_all()
    look_until_done(now, task)

    sending.cancel(alice, task.uuid)
    cancel_all()

    assert offie.operations[-1] == "CancelTask"


def test_a_task_that_its_agent_ended_is_not_cancelled(offie, olive, alice, now):
    task = sent(alice, olive, "work")
    submit_all()
    look_until_done(now, task)

    cancel_all()

    assert "CancelTask" not in offie.operations
    assert not RemoteConversation.objects.exists()


def test_the_work_timeout_bounds_the_call_and_cancels_the_remote_task(offie, olive, alice, now):
    task = sent(alice, olive, "never", work_timeout=timedelta(seconds=4))
    submit_all()
    now.shift(4)
    look_all()
    cancel_all()

    assert result_of(task).error_message == "Task timed out"
    assert offie.operations[-1] == "CancelTask"


def test_an_authorization_by_another_way_goes_on_without_a_message(offie, olive, alice, now):
    task = sent(alice, olive, "auth")
    submit_all()
    look_until_done(now, task)
    assert (state_of(task), task.awaits) == ("interrupted", "authorization")
    resume_all()
    assert state_of(task) == "interrupted"

    offie.scripts[next(iter(offie.tasks))] = [("status", "WORKING", "signed in"), ("status", "COMPLETED", "done")]
    resume_all()
    assert state_of(task) == "in_flight"
    look_until_done(now, task)

    assert result_of(task).status == "ok"
    assert len(offie.sent) == 1
    assert said(task)[0] == ("agent", "sign in")


def test_what_the_sender_says_meanwhile_is_sent_on(offie, olive, alice, now):
    task = sent(alice, olive, "never")
    submit_all()
    conversation.say(alice, task.uuid, ask("faster"))

    look_until_done(now, task)

    assert [message["parts"] for message in offie.sent] == [[{"text": "never"}], [{"text": "faster"}]]
    assert result_of(task).status == "ok"


def test_a_question_to_a_sender_that_takes_none_is_an_error(offie, olive, alice, now):
    task = sent(alice, olive, "ask", converses=False)
    submit_all()
    look_all()
    cancel_all()

    assert result_of(task).error_message == "the remote agent asked a question, and the sender of this task takes none"
    assert offie.operations[-1] == "CancelTask"


def test_a_submission_that_was_cut_is_not_repeated_at_an_agent_of_no_hub(offie, olive, alice, now):
    task = sent(alice, olive, "work")
    take_all()
    now.shift(3600)

    assert not remote_calls.cut(timezone.now())
    assert take_all() == []
    assert (state_of(task), offie.sent) == ("in_flight", [])


def test_a_submission_to_a_hub_that_was_cut_is_repeated_under_the_same_key(offie, olive, alice, now, monkeypatch):
    offie.is_hub = True
    task = sent(alice, olive, "work")
    (call,) = take_all()
    with monkeypatch.context() as patched:
        patched.setattr(RemoteCall, "save", fault)
        with pytest.raises(SystemExit):
            remote_calls.submit(call)
    RemoteConversation.objects.update(told_turn=0, remote_task_id=None)  # as if the carrier died before it stored them
    now.shift(61)

    (again,) = remote_calls.cut(timezone.now())
    assert again.claim_submission(timezone.now())
    remote_calls.submit(again)
    look_until_done(now, task)

    assert [len(offie.sent), len(offie.tasks)] == [2, 1]
    assert (result_of(task).status, Lease.objects.count()) == ("ok", 1)


def fault(*_, **__):
    raise SystemExit


def test_a_requeued_task_goes_on_with_its_remote_task(offie, olive, alice, now):
    task = sent(alice, olive, "never")
    submit_all()
    look_all()
    (lease,) = Lease.objects.all()
    repair.requeue(
        Caller.command_line(),
        task.uuid,
        reason="slow",
        lease_id=lease.lease_id,
        duplicate_risk="operator_accepted",
    )
    remote_calls.forget_ended()

    submit_all()
    offie.scripts[next(iter(offie.tasks))] = [("status", "COMPLETED", "done")]
    look_until_done(now, task)

    assert (len(offie.sent), result_of(task).status) == (1, "ok")


def test_a_busy_agent_is_called_again_later(offie, olive, alice, now):
    offie.busy = True
    task = sent(alice, olive, "work")
    submit_all()
    assert state_of(task) == "queued"

    offie.busy = False
    now.shift(1)
    submit_all()
    look_until_done(now, task)

    assert result_of(task).status == "ok"


def test_an_agent_whose_card_cannot_be_read_is_called_again_later(olive, alice, now, settings):
    with raw_server(lambda connection, _: connection.sendall(b"HTTP/1.1 502 Bad\r\nContent-Length: 0\r\n\r\n")) as url:
        profiles.update_profile(Caller.command_line(), factories.row_of(olive), {"card_url": url})
        task = sent(alice, olive, "work")
        submit_all()

    assert state_of(task) == "queued"


def test_a_card_without_an_interface_that_the_hub_speaks_is_an_error(offie, olive, alice):
    offie.card = {"supportedInterfaces": [{"url": "grpc://x", "protocolBinding": "GRPC", "protocolVersion": "1.0"}]}
    task = sent(alice, olive, "work")

    submit_all()

    assert "offers no interface of A2A 1.0" in (result_of(task).error_message or "")


def test_a_task_that_its_agent_forgot_is_an_error(offie, olive, alice):
    task = sent(alice, olive, "never")
    submit_all()
    offie.tasks.clear()

    look_all()

    assert result_of(task).error_message == "the remote agent does not know the task any more"


def test_failed_polls_are_repeated(offie, olive, alice, now):
    task = sent(alice, olive, "work")
    submit_all()
    offie.poll_status = 500
    look_all()
    offie.poll_status = 200
    now.shift(3)
    look_until_done(now, task)

    assert result_of(task).status == "ok"


def test_an_answer_that_is_too_large_is_an_error(offie, olive, alice, monkeypatch):
    task = sent(alice, olive, "never")
    submit_all()
    next(iter(offie.tasks.values()))["metadata"] = {"x": "y" * (5 * 1024 * 1024)}

    look_all()

    assert result_of(task).error_message == "A2A: the answer is larger than 4 MiB"
    assert AnswerTooLargeError.code == "answer_too_large"


def test_more_than_a_task_may_hold_is_an_error(offie, olive, alice, now, settings):
    settings.A2A_TASK_MAX_BYTES = 20
    task = sent(alice, olive, "work")
    submit_all()

    look_until_done(now, task)

    assert result_of(task).error_message == "A2A: the remote agent's answer is larger than one task may be"


def test_the_depth_of_a_task_is_sent_on_and_limited(offie, olive, alice):
    def passed_on(depth):
        return {"message": {"metadata": {"a2a-hub": {"depth": depth}, "own": 1}}}

    sent(alice, olive, "work", metadata=passed_on(2))
    too_deep = sent(alice, olive, "work", metadata=passed_on(3))
    submit_all()

    assert [message["metadata"] for message in offie.sent] == [{"a2a-hub": {"depth": 3}, "own": 1}]
    assert result_of(too_deep).error_message == "Invocation depth limit exceeded: 3 agents have passed it on"


def test_a_context_of_the_hub_is_a_context_of_its_sender_at_the_remote_agent(offie, olive, alice, bob):
    factories.grant(bob, "a2a.send.*")
    for sender in (alice, alice, bob):
        sent(sender, olive, "work", context_id="c1")
    submit_all()

    first, second, third = (message["contextId"] for message in offie.sent)
    assert first == second
    assert len({first, third, "c1"}) == 3


class TestCredentials:
    def test_a_key_is_sent_to_the_server_of_the_card_as_the_card_asks(self, offie, olive, alice, now):
        offie.card = {"securitySchemes": {"k": {"apiKeySecurityScheme": {"location": "header", "name": "X-API-Key"}}}}
        profiles.update_profile(Caller.command_line(), factories.row_of(olive), {"card_key": "sekret"})
        sent(alice, olive, "work")
        submit_all()
        look_all()

        shown = [(headers.get("authorization"), headers.get("x-api-key")) for _, _, headers, _ in offie.requests]
        assert shown == [("Bearer sekret", None), (None, "sekret"), (None, "sekret")]

    def test_a_key_is_sent_to_no_other_server(self, offie, olive, alice):
        offie.card = {
            "supportedInterfaces": [
                {"url": "http://127.0.0.2:8000/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
            ]
        }
        profiles.update_profile(Caller.command_line(), factories.row_of(olive), {"card_key": "sekret"})
        task = sent(alice, olive, "work")
        submit_all()

        assert "credentials are sent to no other server" in (result_of(task).error_message or "")

    def test_an_interface_at_a_blocked_address_is_not_called(self, offie, olive, alice):
        offie.card = {
            "supportedInterfaces": [{"url": "http://10.0.0.1/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}]
        }
        task = sent(alice, olive, "work")
        submit_all()

        assert "private/reserved" in (result_of(task).error_message or "")

    def test_a_bearer_key_in_the_url_is_sent(self, offie, olive, alice):
        url = offie.url.replace("http://", "http://:sekret@")
        profiles.update_profile(Caller.command_line(), factories.row_of(olive), {"card_url": url})
        sent(alice, olive, "work")
        submit_all()

        assert {headers.get("authorization") for _, _, headers, _ in offie.requests} == {"Bearer sekret"}


def test_a_stream_of_0_3_is_not_followed(offie, olive, alice):
    offie.binding, offie.streams = OLDER, True
    sent(alice, olive, "never")
    submit_all()

    assert not remote_calls.follows(RemoteCall.objects.get())
