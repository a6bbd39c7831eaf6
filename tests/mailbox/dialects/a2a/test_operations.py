"""Messages, reads, lists and cancels over JSON-RPC, with a worker at the mailbox."""

import pytest

from mailbox.access.agents import grants
from mailbox.access.callers import Caller
from mailbox.words import json_text
from mailbox.words.conversation import UpdateStatus
from mailbox.words.envelopes import ResultStatus
from tests.support import factories
from tests.support.a2a import OfficialClient, message, state, words_of
from tests.support.factories import text

pytestmark = pytest.mark.django_db


def test_a_message_makes_a_task_that_a_worker_leases_and_answers(client, holder):
    sent = client.send("summarise", contextId="talk")
    assert (state(sent), sent["contextId"], words_of(sent["history"])) == ("SUBMITTED", "talk", ["summarise"])

    task = holder.take()
    assert (task.intent_text, task.context_id, str(task.uuid)) == ("summarise", "talk", sent["id"])
    assert state(client.get(sent["id"])) == "WORKING"

    holder.answer("done")
    read = client.get(sent["id"])
    assert state(read) == "COMPLETED"
    assert read["artifacts"] == [{"artifactId": "result", "parts": [{"text": "done"}]}]


def test_a_conversation_keeps_one_task_one_context_and_its_history_in_order(client, holder):
    sent = client.send("report")
    holder.take()
    holder.ask("which one?")
    asked = client.get(sent["id"])
    assert (state(asked), words_of([asked["status"]["message"]])) == ("INPUT_REQUIRED", ["which one?"])

    again = client.send("that one", taskId=sent["id"])
    assert (again["id"], again["contextId"], state(again)) == (sent["id"], sent["contextId"], "SUBMITTED")

    holder.take()
    holder.ask("sign in", UpdateStatus.AUTH_REQUIRED)
    assert state(client.get(sent["id"])) == "AUTH_REQUIRED"
    client.send("signed in", taskId=sent["id"], contextId=sent["contextId"])
    holder.take()
    holder.answer(None, message=text("bye"))

    done = client.get(sent["id"])
    assert words_of(done["history"]) == ["report", "which one?", "that one", "sign in", "signed in"]
    assert words_of([done["status"]["message"]]) == ["bye"]


@pytest.mark.parametrize(
    ("said", "seen", "words"),
    [
        ({"status": ResultStatus.REJECTED, "error_message": "not mine"}, "REJECTED", ["not mine"]),
        ({"status": ResultStatus.ERROR, "error_message": "broken"}, "FAILED", ["broken"]),
    ],
)
def test_refusals_and_failures_carry_their_message(client, holder, said, seen, words):
    sent = client.send()
    holder.take()
    holder.answer(None, **said)

    read = client.get(sent["id"])
    assert (state(read), words_of([read["status"]["message"]])) == (seen, words)


def test_a_direct_answer_is_one_message_and_stands_in_no_list(client, holder):
    sent = client.send()
    holder.take()
    holder.answer("42", direct=True)

    read = client.get(sent["id"])
    assert (state(read), words_of([read["status"]["message"]]), "artifacts" in read) == ("COMPLETED", ["42"], False)
    assert client.rpc("ListTasks")["tasks"] == []


def test_all_kinds_of_parts_come_back_with_their_metadata(client):
    parts = [
        {"text": "words", "mediaType": "text/markdown", "metadata": {"a": 1}},
        {"raw": "AAH/", "mediaType": "image/png", "filename": "dot.png"},
        {"raw": "AAH/", "mediaType": "application/pdf", "filename": "one.pdf", "metadata": {"b": [2]}},
        {"url": "https://example.org/x", "filename": "x", "mediaType": "text/html"},
        {"data": {"deep": [1, None]}, "metadata": {"c": "d"}},
        {"data": None},
    ]
    said = {**message(), "parts": parts, "metadata": {"k": "v"}, "extensions": ["urn:x"], "referenceTaskIds": ["t"]}
    sent = client.rpc("SendMessage", {"message": said, "configuration": {"returnImmediately": True}})["task"]

    (kept,) = client.get(sent["id"])["history"]
    assert kept == {**said, "taskId": sent["id"], "contextId": sent["contextId"]}


def test_the_history_length_bounds_the_messages_of_an_answer(client, holder):
    sent = client.send("one")
    holder.take()
    holder.tell("two")
    holder.tell("three")

    assert words_of(client.get(sent["id"], historyLength=1)["history"]) == ["two"]
    assert "history" not in client.get(sent["id"], historyLength=0)
    assert client.error("GetTask", {"id": sent["id"], "historyLength": -1})[0] == -32602


# ---- further messages


def test_a_further_message_reaches_the_present_holder(client, holder):
    sent = client.send()
    holder.take()
    client.send("hurry", taskId=sent["id"])

    assert words_of(client.get(sent["id"])["history"]) == ["do it", "hurry"]


def test_a_message_for_a_task_that_has_ended_is_unsupported(client, holder):
    sent = client.send()
    holder.take()
    holder.answer()

    assert client.error("SendMessage", {"message": message(taskId=sent["id"])}) == (-32004, "UNSUPPORTED_OPERATION")


def test_a_message_must_name_the_context_of_its_task_if_any(client, holder):
    sent = client.send()

    wrong = {"message": message(taskId=sent["id"], contextId="another")}
    assert client.error("SendMessage", wrong) == (-32602, "INVALID_PARAMS")


# ---- cancels


def test_a_task_is_cancelled_once_and_a_repeated_cancel_answers_the_same(client, holder):
    queued, working = client.send(), client.send()
    first = client.rpc("CancelTask", {"id": queued["id"]})
    assert state(first) == "CANCELED"

    holder.take()
    assert state(client.rpc("CancelTask", {"id": working["id"]})) == "CANCELED"
    rows = factories.journal_length()
    assert client.rpc("CancelTask", {"id": queued["id"]}) == first
    assert state(client.rpc("CancelTask", {"id": working["id"]})) == "CANCELED"
    assert factories.journal_length() == rows


def test_a_task_that_ended_otherwise_is_not_cancelled(client, holder):
    sent = client.send()
    holder.take()
    holder.answer()

    assert client.error("CancelTask", {"id": sent["id"]}) == (-32002, "TASK_NOT_CANCELABLE")


def test_an_interrupted_task_is_cancelled(client, holder):
    sent = client.send()
    holder.take()
    holder.ask("which?")

    assert state(client.rpc("CancelTask", {"id": sent["id"]})) == "CANCELED"


# ---- idempotency keys


def test_a_key_makes_one_further_message(client, holder):
    sent = client.send()
    holder.take()
    holder.ask("which?")
    body = {"message": message("this", taskId=sent["id"]), "configuration": {"returnImmediately": True}}
    for _ in range(2):
        client.rpc("SendMessage", body, **{"Idempotency-Key": "k"})

    assert words_of(client.get(sent["id"])["history"]) == ["do it", "which?", "this"]


@pytest.fixture
def body():
    return {"message": message(messageId="m-1"), "configuration": {"returnImmediately": True}}


def test_a_message_id_is_no_key_unless_the_agent_wants_it(client, holder, body):
    assert len({client.rpc("SendMessage", body)["task"]["id"] for _ in range(2)}) == 2


def test_a_repeated_message_id_is_the_same_task_where_it_is_the_key(client, bob, holder, body):
    factories.profile(bob, message_id_is_key=True)
    first = client.rpc("SendMessage", body)["task"]
    holder.take()
    holder.ask("which?")

    assert client.rpc("SendMessage", body)["task"]["id"] == first["id"]
    other = body | {"message": message("something else", messageId="m-1")}
    assert client.error("SendMessage", other) == (-32602, "INVALID_PARAMS")
    say = body | {"message": message("this", messageId="m-2", taskId=first["id"])}
    for _ in range(2):
        client.rpc("SendMessage", say)
    assert words_of(client.get(first["id"])["history"]) == ["do it", "which?", "this"]


def test_a_key_of_the_header_precedes_the_message_id(client, bob, holder, body):
    factories.profile(bob, message_id_is_key=True)

    keys = [{}, {"Idempotency-Key": "a"}, {"Idempotency-Key": "m-1"}]

    assert len({client.rpc("SendMessage", body, **key)["task"]["id"] for key in keys}) == 3


def test_callers_without_a_key_share_no_message_ids(bob, body):
    factories.profile(bob, message_id_is_key=True)
    grants.open_to_anyone(Caller.command_line(), bob.agent)
    stranger = OfficialClient(None, bob)

    assert len({stranger.rpc("SendMessage", body)["task"]["id"] for _ in range(2)}) == 2


# ---- what the card says


def test_media_types_outside_the_card_are_not_supported(client, bob):
    factories.profile(bob, input_modes=["text/*", "application/json"])
    client.send(parts=[{"text": "x", "mediaType": "TEXT/Markdown; charset=utf-8"}])
    wrong = {"message": message(parts=[{"raw": "AA==", "mediaType": "image/png"}])}

    assert client.error("SendMessage", wrong) == (-32005, "CONTENT_TYPE_NOT_SUPPORTED")


def test_a_required_extension_must_be_named_and_activated_ones_come_back(client, bob, holder):
    factories.profile(bob, extensions=[{"uri": "urn:need", "required": True}, {"uri": "urn:may"}])
    assert client.error("ListTasks") == (-32008, "EXTENSION_SUPPORT_REQUIRED")

    body = {"message": message(), "configuration": {"returnImmediately": True}}
    response = client.response("SendMessage", body, **{"A2A-Extensions": "urn:need, urn:unknown,urn:may"})
    assert response.headers["A2A-Extensions"] == "urn:need, urn:may"
    assert json_text.loads(holder.take().metadata)["extensions"] == ["urn:need", "urn:may"]
