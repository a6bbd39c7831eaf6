"""Official clients send messages and wait for what comes of them, with their default settings."""

import pytest

from tests.support.clients import readings
from tests.support.clients.player import SIGN_IN
from tests.support.clients.readings import Words, Work
from tests.support.clients.talk import EVERY
from tests.support.hub import wait_until

every = pytest.mark.parametrize("sdk", EVERY, ids=str)
ONE_A_BINDING = EVERY[:2]


@pytest.mark.parametrize(
    "sdk", [*(pytest.param(one, marks=pytest.mark.smoke) for one in ONE_A_BINDING), *EVERY[2:]], ids=str
)
def test_a_message_is_answered_by_the_finished_task(talk):
    task = talk.task("complete this")

    assert (task.state, task.artifacts) == ("completed", {"result": "done: complete this"})
    assert task.talk == [("user", "complete this")]
    assert talk.get(task.id).artifacts == task.artifacts


def test_a_silent_task_of_eight_seconds_succeeds_for_all_clients_at_once(stage, javascript_clients):
    sends = [stage.talk(sdk).begin_send("slow 8") for sdk in EVERY]

    answers = [send.result() for send in sends]

    assert [readings.work(answer.get("task", answer)).artifacts for answer in answers] == [
        {"result": "slow but sure"}
    ] * len(EVERY)


@every
def test_a_client_that_does_not_wait_polls_until_the_end(talk):
    begun = talk.task("complete later", at_once=True)

    assert begun.state in ("submitted", "working", "completed")
    wait_until(lambda: talk.get(begun.id).state == "completed", every=0.05)


@every
def test_a_direct_answer_is_one_message_and_no_task(talk, stage):
    answer = talk.send("direct")

    assert isinstance(answer, Words)
    assert (answer.role, answer.text) == ("agent", "Hello yourself.")
    assert answer.raw["contextId"]
    assert not answer.raw.get("taskId")


@every
@pytest.mark.parametrize(
    ("text", "state", "words"),
    [
        ("reject", "rejected", "Not my kind of work."),
        ("fail", "failed", "The oven is cold."),
        ("ask", "input_required", "Which colour?"),
        ("auth", "auth_required", SIGN_IN),
    ],
)
def test_a_state_that_needs_words_has_them(talk, text, state, words):
    task = talk.task(text)

    assert (task.state, task.text) == (state, words)
    assert talk.get(task.id).text == words


@every
def test_a_message_may_choose_its_context(talk):
    tasks = [talk.task(f"complete {number}", context=f"my context of {talk.client}") for number in range(2)]

    assert {task.context for task in tasks} == {f"my context of {talk.client}"}
    assert len({task.id for task in tasks}) == 2


@every
def test_only_the_newest_messages_are_shown_if_that_is_wanted(talk):
    asked = talk.task("ask")
    painted = talk.task("red", of=asked)

    shown = talk.get(painted.id, historyLength=1)

    assert len(talk.get(painted.id).history) == 3
    assert [words.text for words in shown.history] == ["red"]
    assert isinstance(painted, Work)
