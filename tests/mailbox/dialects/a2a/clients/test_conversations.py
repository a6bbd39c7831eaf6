"""Official clients answer questions of an agent, and the conversation stays one task."""

import pytest

from tests.support.clients.player import QUESTIONS
from tests.support.clients.talk import EVERY, NEW

pytestmark = pytest.mark.parametrize("sdk", EVERY, ids=str)


def test_a_conversation_of_two_turns_keeps_task_context_and_order(talk):
    asked = talk.task("ask")
    painted = talk.task("red", of=asked)

    assert (asked.state, asked.text) == ("input_required", QUESTIONS[0])
    assert (painted.id, painted.context, painted.state) == (asked.id, asked.context, "completed")
    assert painted.talk == [("user", "ask"), ("agent", QUESTIONS[0]), ("user", "red")]
    assert painted.artifacts == {"result": "painted red"}


def test_a_conversation_of_three_turns_waits_for_each_own_outcome(talk):
    first = talk.task("ask twice")
    second = talk.task("red", of=first)
    third = talk.task("large", of=second)

    assert [task.text for task in (first, second)] == list(QUESTIONS)
    assert [task.state for task in (first, second, third)] == ["input_required", "input_required", "completed"]
    assert third.talk == [
        ("user", "ask twice"),
        ("agent", QUESTIONS[0]),
        ("user", "red"),
        ("agent", QUESTIONS[1]),
        ("user", "large"),
    ]


def test_a_streamed_answer_shows_what_comes_of_it_alone(talk):
    asked = talk.task("ask twice")

    events = talk.stream("red", of=asked).rest()

    assert events[0].state == "submitted"
    assert [words.text for words in events[0].history] == ["ask twice", QUESTIONS[0], "red"]
    assert (events[-1].state, events[-1].text) == ("input_required", QUESTIONS[1])
    assert "input_required" not in [getattr(event, "state", None) for event in events[:-1]]


def test_a_task_that_is_signed_in_by_a_message_goes_on(talk):
    asked = talk.task("auth")

    assert talk.task("the code", of=asked).artifacts == {"result": "let in with the code"}


def test_an_agent_resumes_by_itself_after_an_authorization_elsewhere(talk, stage):
    asked = talk.task("auth")
    stream = talk.subscribe(asked.id)
    assert stream.next().state == "auth_required"

    held = stage.player.lease(asked.id)
    stream.until("working")
    held.succeed("let in by the window")

    assert stream.rest()[-1].state == "completed"
    assert talk.get(asked.id).artifacts == {"result": "let in by the window"}


def test_an_answer_that_comes_while_the_agent_resumes_is_not_lost(talk, stage):
    asked = talk.task("auth")
    held = stage.player.lease(asked.id)

    answered = talk.task("the code", of=asked, at_once=True)
    turn = held.update({"message": "In already."}).raise_for_status().json()["turn"]
    held.succeed("let in")

    assert (answered.state, turn) == ("working", 2)
    assert ("user", "the code") in talk.get(asked.id).talk


@pytest.mark.parametrize("other", NEW[:1], ids=str)
def test_a_conversation_goes_on_with_another_client(talk, stage, other):
    asked = talk.task("ask")

    painted = stage.talk(other).task("blue", of=asked)

    assert talk.get(asked.id).talk == painted.talk
    assert painted.artifacts == {"result": "painted blue"}
