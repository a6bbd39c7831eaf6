"""The values that a handler may return, as results and questions."""

from uuid import UUID, uuid4

import pytest

from a2a_hub_client import Answer, JsonBlock, Result, TextBlock, Update
from a2a_hub_client.worker.functions import closing_of
from a2a_hub_client.worker.job import LeasedTask, Updates
from a2a_hub_client.worker.task import Task

pytestmark = pytest.mark.one_database


class Score(float):
    """A float of another library, as numpy has them."""


AGENT = {"display": "alice@local", "pubkey": "key"}
SHOWN = {"id": str(uuid4()), "sender": AGENT, "recipient": AGENT, "intent_text": "work"}


def leased_task(**shown: object) -> LeasedTask:
    return LeasedTask(task={**SHOWN, **shown}, lease_id=str(uuid4()), attempt=1, time_limit=None)


def task_of(**shown: object) -> Task:
    return Task(leased_task(**shown), Updates(), may_wait=True)


@pytest.mark.parametrize(
    ("returned", "content"),
    [
        (None, []),
        ("done", [TextBlock("done")]),
        ({"n": 1}, [JsonBlock({"n": 1})]),
        (JsonBlock([1]), [JsonBlock([1])]),
        ([{"type": "text", "text": "a"}, JsonBlock(2)], [TextBlock("a"), JsonBlock(2)]),
        ([], []),
    ],
)
def test_content_becomes_a_result(returned, content):
    assert closing_of(returned, task_of()).spoken == {"status": "ok", "content": content}


@pytest.mark.parametrize("returned", [7, {1, 2}, [1, 2], [{"words": 3}], Update.saying("no question")])
def test_what_is_no_content_is_refused_by_its_type(returned):
    with pytest.raises(TypeError, match=f"returned a {type(returned).__name__}, and must return a str"):
        closing_of(returned, task_of())


@pytest.mark.parametrize("value", [float("nan"), {1, 2}, "\ud800"])
def test_values_that_are_not_json_are_refused(value):
    with pytest.raises(ValueError, match=r"JSON|surrogates"):
        closing_of({"value": value}, task_of())


def test_an_answer_names_more_than_its_content():
    task = task_of()

    closing = closing_of(task.answer("half", status="partial", error_message="no more", message="bye"), task)

    assert closing.spoken == {
        "status": "partial",
        "content": [TextBlock("half")],
        "error_message": "no more",
        "message": [TextBlock("bye")],
    }


def test_the_result_of_another_task_is_passed_on():
    result = Result(task_id=uuid4(), status="error", content=[], error_message="theirs")

    assert closing_of(result, task_of()).spoken == {"status": "error", "content": [], "error_message": "theirs"}


def test_a_question_is_no_result():
    task = task_of()

    closing = closing_of(task.ask("Which colour?"), task)

    assert closing.is_question
    assert closing.spoken == {"status": "input_required", "message": [TextBlock("Which colour?")]}
    signing_in = closing_of(task.ask("Sign in", authorization=True), task).spoken
    assert signing_in is not None
    assert signing_in["status"] == "auth_required"


@pytest.mark.parametrize("said", ["ask", "reject"])
def test_a_question_or_a_refusal_that_is_not_returned_is_an_error(said):
    task = task_of()
    getattr(task, said)("words")

    with pytest.raises(TypeError, match="has to return"):
        closing_of("done", task)


def test_a_task_shows_what_its_sender_gave():
    task = task_of(task_kind="art", deadline_ms=1_000, metadata={"a": 1}, parent=str(uuid4()))

    assert (task.id, task.text, task.kind) == (UUID(str(SHOWN["id"])), "work", "art")
    assert task.deadline is not None
    assert (task.deadline.timestamp(), task.metadata) == (1.0, {"a": 1})
    assert task_of().metadata == {}
    assert isinstance(task.answer(), Answer)


def test_parts_of_other_libraries_become_those_of_json():
    closing = closing_of({"score": Score(0.5), None: True}, task_of())

    assert closing.spoken is not None
    (block,) = closing.spoken["content"]
    assert block["value"] == {"score": 0.5, "null": True}
    assert type(block["value"]["score"]) is float


@pytest.mark.parametrize("value", [{1, 2}, float("nan"), "\ud800", object()])
def test_a_value_that_cannot_be_sent_is_an_error_of_the_handler(value):
    with pytest.raises(ValueError, match=r"not JSON|JSON compliant|surrogates"):
        closing_of({"value": value}, task_of())
    with pytest.raises(ValueError, match=r"not JSON|JSON compliant|surrogates"):
        task_of().artifact("a", [JsonBlock({"value": value})])
