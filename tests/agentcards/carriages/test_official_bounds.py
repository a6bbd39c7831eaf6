"""Cut submissions, agents that cannot be called, bounds of size and time, and the credentials of the hub."""

from datetime import timedelta

import pytest
from django.utils import timezone

from agentcards import profiles, remote_calls
from agentcards.carriages import official_talk, reporting
from agentcards.models import RemoteCall, RemoteConversation
from agentcards.official_client.client import ReachedAgent
from mailbox.access.callers import Caller
from mailbox.life import conversation
from mailbox.models import Lease
from mailbox.outbound.errors import AnswerTooLargeError, NoAnswerError
from mailbox.repairs import repair
from tests.support import factories
from tests.support.official_rounds import (
    ask,
    cancel_all,
    look_until_done,
    sent,
    state_of,
)
from tests.support.remote_rounds import look_all, result_of, submit_all, take_all
from tests.support.remote_servers import raw_server

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("now")]
STRANGE = [
    {"message": {"content": "other words", "metadata": 5, "extensions": 5}, "accepted_output_modes": [5]},
    {"message": {"content": [{"type": "text", "text": "other words"}], "metadata": {"a2a-hub": {"depth": 9}}}},
]


def test_the_work_timeout_bounds_the_call_and_cancels_the_remote_task(offie, olive, alice, now):
    task = sent(alice, olive, "never", work_timeout=timedelta(seconds=4))
    submit_all()
    now.shift(4)
    look_all()
    cancel_all()

    assert result_of(task).error_message == "Task timed out"
    assert offie.operations[-1] == "CancelTask"


def test_a_submission_that_was_cut_is_not_repeated_at_an_agent_of_no_hub(offie, olive, alice, now):
    task = sent(alice, olive, "work")
    (call,) = take_all()
    official_talk.begin(task, call.base_url)
    now.shift(3600)

    assert not remote_calls.cut(timezone.now())
    assert take_all() == []
    assert (state_of(task), offie.sent) == ("in_flight", [])


def test_a_submission_that_was_cut_before_anything_was_sent_is_repeated(offie, olive, alice, now):
    task = sent(alice, olive, "work")
    take_all()
    early = list(remote_calls.cut(timezone.now()))
    now.shift(61)

    (again,) = remote_calls.cut(timezone.now())
    assert again.claim_submission(timezone.now())
    remote_calls.submit(again)
    look_until_done(now, task)

    assert (early, len(offie.sent)) == ([], 1)
    assert (result_of(task).status, Lease.objects.count()) == ("ok", 1)


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


@pytest.mark.parametrize("is_hub", [False, True])
def test_a_direct_answer_that_was_cut_before_its_post_is_asked_for_again(offie, olive, alice, now, monkeypatch, is_hub):
    offie.is_hub = is_hub
    task = sent(alice, olive, "message")
    with monkeypatch.context() as patched:
        patched.setattr(reporting, "answer", fault)
        with pytest.raises(SystemExit):
            submit_all()
    now.shift(61)
    calls = list(remote_calls.cut(timezone.now()))
    assert len(calls) == is_hub

    if not is_hub:
        lease, risk = Lease.objects.get(), repair.DuplicateRisk.OPERATOR_ACCEPTED
        caller = Caller.command_line()
        repair.requeue(caller, task.uuid, reason="cut", lease_id=lease.lease_id, duplicate_risk=risk)
        calls = take_all()
    for call in calls:
        remote_calls.submit(call)

    assert result_of(task).blocks == [{"type": "text", "text": "message: at once"}]
    assert len(offie.sent) == 2


def test_only_the_last_message_is_sent_again_after_a_direct_answer_to_the_first(offie, olive, alice, monkeypatch):
    task = sent(alice, olive, "message one")
    conversation.say(alice, task.uuid, ask("message two"))
    with monkeypatch.context() as patched:
        patched.setattr(reporting, "answer", fault)
        with pytest.raises(SystemExit):
            submit_all()

    assert (len(offie.sent), RemoteConversation.objects.get().told_turn) == (2, 1)


def test_an_answer_that_was_lost_is_an_error_and_no_poll(offie, olive, alice, now):
    task = sent(alice, olive, "message")
    (call,) = take_all()
    official_talk.begin(task, call.base_url)
    RemoteConversation.objects.update(told_turn=1)  # as a carrier of an earlier version stored it before it died

    remote_calls.submit(call)

    assert result_of(task).error_message == "A2A: the answer of the agent was lost"
    assert offie.operations == []


def test_a_lost_answer_of_a_hub_is_asked_for_again_under_the_same_key(offie, olive, alice, now, monkeypatch):
    offie.is_hub = True
    task = sent(alice, olive, "work")
    with monkeypatch.context() as patched:
        patched.setattr(ReachedAgent, "call", losing(ReachedAgent.call))
        submit_all()
    assert state_of(task) == "queued"

    now.shift(1)
    submit_all()
    look_until_done(now, task)

    assert [len(offie.sent), len(offie.tasks)] == [2, 1]
    assert result_of(task).status == "ok"


def test_a_lost_answer_of_another_agent_is_an_error(offie, olive, alice, monkeypatch):
    task = sent(alice, olive, "work")
    monkeypatch.setattr(ReachedAgent, "call", losing(ReachedAgent.call))
    submit_all()

    assert result_of(task).error_message == f"A2A: no answer from {offie.url.removeprefix('http://')}"


def losing(call):
    def lose(agent, *given, **more):
        call(agent, *given, **more)
        raise NoAnswerError(f"no answer from {agent.interface.url}")

    return lose


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

    sent(alice, olive, "work", dialect="a2a", metadata=passed_on(2))
    too_deep = sent(alice, olive, "work", dialect="a2a", metadata=passed_on(3))
    submit_all()

    assert [message["metadata"] for message in offie.sent] == [{"a2a-hub": {"depth": 3}, "own": 1}]
    assert result_of(too_deep).error_message == "Invocation depth limit exceeded: 3 agents have passed it on"


@pytest.mark.parametrize("stored", STRANGE)
def test_the_sender_s_own_metadata_in_another_dialect_are_never_its_message(offie, olive, alice, stored):
    sent(alice, olive, "work", dialect="yeoman", metadata=stored)

    submit_all()

    (message,) = offie.sent
    assert (message["parts"], message["metadata"]) == ([{"text": "work"}], {"a2a-hub": {"depth": 1}})
    assert "extensions" not in message


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
