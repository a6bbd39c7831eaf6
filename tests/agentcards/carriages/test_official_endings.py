"""Final messages of remote agents: their parts and metadata come back as rows, and the sender sees them unchanged."""

import pytest

from mailbox.inspection import task_events
from mailbox.life import conversation
from mailbox.models import Artifact, Message
from mailbox.words.a2a import v1_0
from tests.support import factories
from tests.support.official_agents import BINDINGS, OLDER, SCRIPTS
from tests.support.official_rounds import ask, look_until_done, said, sent, state_of
from tests.support.remote_rounds import result_of, submit_all

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("now")]
TEXT = {"text": "the report"}
FILE = {"raw": "AAEC", "mediaType": "application/pdf", "filename": "report.pdf", "metadata": {"pages": 3}}
LINK = {"url": "https://files.example/x", "mediaType": "text/csv", "filename": "x.csv"}
DATA = {"data": {"total": 12, "rows": [1, None]}}
PARTS = [TEXT, FILE, LINK, DATA]
DETAILS = {
    "metadata": {"model": "m-1", "progress": 1.0, "usage": {"tokens": 7}},
    "extensions": ["https://ext.example/v1"],
    "referenceTaskIds": ["earlier-task"],
}


def ends(offie, monkeypatch, state, parts, **details):
    """Let the remote agent end its tasks with this status message; return it without the ids of its task."""
    message = {"messageId": "m-9", "role": "ROLE_AGENT", "parts": parts, **details}
    monkeypatch.setitem(SCRIPTS, "work", [("status", state, "")])
    step = offie._step

    def stepped(task, script):
        event = step(task, script)
        if script[1] == state:
            task["status"]["message"] = dict(message)
        return event

    monkeypatch.setattr(offie, "_step", stepped)
    return message


def answers(offie, monkeypatch, parts, **details):
    """Let the remote agent answer with this message instead of a task; return it."""
    message = {"messageId": "m-9", "role": "ROLE_AGENT", "parts": parts, **details}
    monkeypatch.setattr(offie, "_send", lambda *_: dict(message))
    return message


def seen(task):
    """Return the task's final status message as its sender sees it, without the ids of the hub's task."""
    task.refresh_from_db()
    shown = v1_0.task(task_events.view_of(task))["status"]
    return {name: value for name, value in shown["message"].items() if name not in ("taskId", "contextId")}


@pytest.mark.parametrize("binding", BINDINGS)
def test_the_last_message_of_a_completed_task_comes_back_unchanged(offie, olive, alice, now, monkeypatch, binding):
    offie.binding = binding
    message = ends(offie, monkeypatch, "COMPLETED", PARTS, **DETAILS)
    task = sent(alice, olive, "work")
    submit_all()
    look_until_done(now, task)

    assert (result_of(task).status, seen(task)) == ("ok", message)
    (row,) = Message.objects.filter(task=task)
    assert [block["type"] for block in row.words] == ["text", "resource", "resource_link", "json"]
    assert row.details["metadata"] == DETAILS["metadata"]


@pytest.mark.parametrize("binding", BINDINGS)
def test_a_direct_message_comes_back_unchanged(offie, olive, alice, monkeypatch, binding):
    offie.binding = binding
    message = answers(offie, monkeypatch, PARTS, **DETAILS)
    task = sent(alice, olive, "work")
    submit_all()

    assert seen(task) == message
    assert task.is_direct
    assert [block["type"] for block in result_of(task).blocks] == ["text", "resource", "resource_link", "json"]
    direct = v1_0.direct_message(task.context_id, task_events.view_of(task).status)
    assert direct.items() >= message.items()


def test_a_direct_message_with_nothing_but_parts_is_the_result_alone(offie, olive, alice, monkeypatch):
    answers(offie, monkeypatch, [TEXT, FILE])
    task = sent(alice, olive, "work")
    submit_all()

    assert seen(task)["parts"] == [TEXT, FILE]
    assert not Message.objects.exists()


def test_a_message_as_the_answer_to_a_later_turn_comes_back_as_the_last_message(offie, olive, alice, now, monkeypatch):
    task = sent(alice, olive, "ask")
    submit_all()
    look_until_done(now, task)
    message = answers(offie, monkeypatch, PARTS, **DETAILS)
    conversation.say(alice, task.uuid, ask("the red one"))
    submit_all()

    assert (state_of(task), seen(task)) == ("resolved", message)
    assert not Artifact.objects.exists()


@pytest.mark.parametrize(("state", "outcome"), [("FAILED", "error"), ("REJECTED", "rejected")])
@pytest.mark.parametrize(
    "parts",
    [[TEXT], PARTS, [FILE, TEXT], [{**TEXT, "metadata": {"lang": "en"}}, {**DATA, "mediaType": "application/json"}]],
)
def test_the_last_message_of_a_failed_task_comes_back_unchanged(
    offie, olive, alice, now, monkeypatch, state, outcome, parts
):
    message = ends(offie, monkeypatch, state, parts, **DETAILS)
    task = sent(alice, olive, "work")
    submit_all()
    look_until_done(now, task)

    assert (task.outcome, result_of(task).error_message) == (outcome, "the report")
    assert seen(task) == message


def test_a_failed_task_with_nothing_but_a_text_has_no_message(offie, olive, alice, now, monkeypatch):
    ends(offie, monkeypatch, "FAILED", [TEXT])
    task = sent(alice, olive, "work")
    submit_all()
    look_until_done(now, task)

    assert (said(task), seen(task)["parts"]) == ([], [TEXT])


@pytest.mark.parametrize(
    ("state", "text"), [("CANCELED", "the remote agent cancelled the task: the report"), ("FAILED", "Task failed")]
)
def test_files_come_back_beside_the_words_of_the_hub(offie, olive, alice, now, monkeypatch, state, text):
    ends(offie, monkeypatch, state, [TEXT, FILE] if state == "CANCELED" else [FILE], **DETAILS)
    task = sent(alice, olive, "work")
    submit_all()
    look_until_done(now, task)

    shown = seen(task)
    assert shown["parts"] == [{"text": text}, FILE]
    assert shown["metadata"] == DETAILS["metadata"]


def test_questions_keep_their_files_and_details(offie, olive, alice, now, monkeypatch):
    message = ends(offie, monkeypatch, "INPUT_REQUIRED", PARTS, **{**DETAILS, "metadata": {"model": "m-1"}})
    task = sent(alice, olive, "work")
    submit_all()
    look_until_done(now, task)

    assert (state_of(task), seen(task)) == ("interrupted", message)


def test_what_a_message_says_counts_for_the_room_of_its_task(offie, olive, alice, now, monkeypatch, settings):
    settings.A2A_TASK_MAX_BYTES = 400
    ends(offie, monkeypatch, "COMPLETED", [TEXT], metadata={"x": "y" * 400})
    task = sent(alice, olive, "work")
    submit_all()
    look_until_done(now, task)

    assert result_of(task).error_message == "A2A: the remote agent's answer is larger than one task may be"


def test_a_cached_result_keeps_the_details_of_its_last_message(offie, olive, alice, now, monkeypatch):
    message = ends(offie, monkeypatch, "COMPLETED", PARTS, **DETAILS)
    first, second = (
        factories.sent_task(alice, olive, intent_text="work", idempotency=factories.idempotent("key")) for _ in range(2)
    )
    submit_all()
    look_until_done(now, first)

    assert {**seen(second), "messageId": "m-9"} == seen(first) == message
    assert Message.objects.filter(task=second).get().extra == Message.objects.filter(task=first).get().extra


def test_a_cached_direct_message_stays_direct_with_its_details(offie, olive, alice, now, monkeypatch):
    message = answers(offie, monkeypatch, PARTS, **DETAILS)
    first, second = (
        factories.sent_task(alice, olive, intent_text="work", idempotency=factories.idempotent("key")) for _ in range(2)
    )
    submit_all()

    assert {**seen(second), "messageId": "m-9"} == seen(first) == message
    assert [task_events.view_of(task).status.is_direct for task in (first, second)] == [True, True]


def test_the_texts_of_a_cancelled_task_are_told_once(offie, olive, alice, now, monkeypatch):
    ends(offie, monkeypatch, "CANCELED", [{"text": "a"}, {"text": "b"}, FILE])
    task = sent(alice, olive, "work")
    submit_all()
    look_until_done(now, task)

    assert seen(task)["parts"] == [{"text": "the remote agent cancelled the task: a\nb"}, FILE]


def test_an_agent_of_0_3_says_progress_in_its_last_message(offie, olive, alice, now, monkeypatch):
    offie.binding = OLDER
    message = ends(offie, monkeypatch, "COMPLETED", [TEXT], metadata={"progress": 0.5})
    task = sent(alice, olive, "work")
    submit_all()
    look_until_done(now, task)

    assert seen(task) == message
