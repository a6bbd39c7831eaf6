"""Conversations with agents of the official protocol: questions, answers, cancels and authorizations."""

import pytest

from agentcards import remote_calls
from agentcards.carriages import reporting
from agentcards.models import RemoteCall, RemoteConversation
from mailbox.access.callers import Caller
from mailbox.life import conversation, results, sending
from mailbox.models import Task
from mailbox.upkeep import compaction
from mailbox.upkeep.compaction import Retention
from tests.support import factories
from tests.support.official_agents import BINDINGS, REST
from tests.support.official_rounds import (
    ask,
    cancel_all,
    look_until_done,
    made,
    resume_all,
    said,
    sent,
    state_of,
)
from tests.support.remote_rounds import look_all, result_of, submit_all

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("now")]


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


def test_an_authorization_is_polled_for_although_the_carrier_died_after_its_question(
    offie, olive, alice, now, monkeypatch
):
    task = sent(alice, olive, "auth")
    submit_all()
    post_once = reporting.post_once

    def post_and_die(*given):
        post_once(*given)
        raise SystemExit

    with monkeypatch.context() as patched:
        patched.setattr(reporting, "post_once", post_and_die)
        with pytest.raises(SystemExit):
            look_all()
    assert state_of(task) == "interrupted"

    offie.scripts[next(iter(offie.tasks))] = [("status", "COMPLETED", "done")]
    resume_all()
    look_until_done(now, task)

    assert result_of(task).status == "ok"


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

    assert result_of(task).error_message == "the sender of this task takes no questions, and the remote agent has one"
    assert offie.operations[-1] == "CancelTask"


def test_a_context_of_the_hub_is_a_context_of_its_sender_at_the_remote_agent(offie, olive, alice, bob):
    factories.grant(bob, "a2a.send.*")
    for sender in (alice, alice, bob):
        sent(sender, olive, "work", context_id="c1")
    submit_all()

    first, second, third = (message["contextId"] for message in offie.sent)
    assert first == second
    assert len({first, third, "c1"}) == 3


def test_a_compaction_takes_the_conversation_of_its_task_along(offie, olive, alice, now):
    task = sent(alice, olive, "work")
    submit_all()
    look_until_done(now, task)
    results.ack_results(alice, [task.uuid])
    assert RemoteConversation.objects.exists()
    now.shift(86_400)

    compaction.compact(Caller.command_line(), Retention())

    assert not Task.objects.exists()
    assert not RemoteConversation.objects.exists()
