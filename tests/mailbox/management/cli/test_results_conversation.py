"""``say``, ``messages`` and ``artifacts``, and the results of conversations."""

from uuid import uuid4

import pytest
from django.core.management import CommandError

from mailbox.access.callers import Caller
from mailbox.inspection import lookup
from mailbox.life import updates
from mailbox.models import Message, Task
from mailbox.words.conversation import ArtifactUpdate, Update, UpdateStatus
from tests.support.factories import text

pytestmark = pytest.mark.django_db


@pytest.fixture
def post(leased):
    """Post updates as the holder of the leased task."""
    task_id = Task.objects.get().uuid
    return lambda *posted: updates.post_updates(Caller.local(lookup.recipient_of(task_id)), task_id, posted)


def test_a_sender_answers_a_question(a2a, a2a_json, sent, post):
    post(Update(status=UpdateStatus.INPUT_REQUIRED, message=text("all words?")))

    assert a2a("say", sent, "without the title") == f"sent turn 2 of task {sent}"

    leased = a2a_json("recv", "bob", "--json")
    assert (leased["turn"], leased["message"]["content"]) == (2, text("without the title"))
    read = a2a("messages", sent)
    assert [block.partition("\n")[2] for block in read.split("\n\n")] == [
        "count the words",
        "all words?",
        "without the title",
    ]
    assert [block.split()[-1] for block in (part.partition("\n")[0] for part in read.split("\n\n"))] == [
        "alice@local",
        "bob@local",
        "alice@local",
    ]


def test_a_lease_prints_the_newest_message(a2a, sent):
    a2a("say", sent, "hurry")

    printed = a2a("recv", "bob")

    assert "turn" in printed
    assert printed.endswith("count the words\n\nhurry")


def test_a_repeated_message_is_sent_once(a2a_json, sent):
    words = ("say", sent, "hurry", "--attempt-id", str(uuid4()), "--json")

    first, again = a2a_json(*words), a2a_json(*words)

    assert first == again
    assert (first["kind"], first["turn"]) == ("a2a_message_sent", 2)
    assert Message.objects.count() == 1


def test_messages_are_read_after_a_number_with_progress(a2a, a2a_json, sent, post):
    post(Update(progress=0.5, note="half"))
    post(Update(message=text("more")))

    first = a2a("messages", sent, "--after", "1", "--limit", "1")
    assert "50% half" in first
    number = first.rpartition("--after ")[2].rstrip(")")
    assert a2a_json("messages", sent, "--after", number, "--json")["messages"][0]["content"] == text("more")
    assert a2a("messages", sent, "--after", "99") == "(no message)"


def test_a_read_of_messages_expires_a_task_past_its_deadline(a2a_json, sent):
    Task.objects.update(deadline_ms=1)

    read = a2a_json("messages", sent, "--json")

    assert read["state"] == "resolved"
    assert Task.objects.get().outcome == "expired"


def test_a_question_without_words_is_named_by_its_number(a2a, a2a_json, sent, post):
    post(Update(status=UpdateStatus.INPUT_REQUIRED))

    shown = a2a("messages", sent, "--after", "1", "--wait-ms", "60000")

    number = a2a_json("messages", sent, "--after", "1", "--json")["next_after"]
    assert shown == f"(the agent asks for input, without words: --after {number})"
    assert a2a("messages", sent, "--after", str(number)) == "(no message)"


def test_artifacts_are_printed_with_their_names(a2a, a2a_json, sent, post):
    assert a2a("artifacts", sent) == "(no artifact)"
    post(ArtifactUpdate(content=text("one"), artifact_id="page", name="Page"))
    post(ArtifactUpdate(content=[{"type": "json", "value": 2}], artifact_id="page", append=True))

    assert a2a("artifacts", sent) == 'page: Page  (no last chunk)\none\n{"type":"json","value":2}'
    assert a2a_json("artifacts", sent, "--json")["artifacts"][0]["artifact_id"] == "page"
    more = a2a("artifacts", sent, "--limit", "1").rpartition("--cursor ")[2].rstrip(")")
    assert a2a("artifacts", sent, "--cursor", more).startswith("page  (continued)")


def test_a_recipient_rejects_a_task(a2a, sent):
    a2a("post-result", sent, "--status", "rejected", "--error-message", "not my work")

    assert Task.objects.get().outcome == "rejected"


def test_a_result_has_closing_words(a2a, sent):
    a2a("post-result", sent, "--status", "ok", "--text", "6", "--message", "bye")

    assert "bye" in a2a("messages", sent)


def test_a_direct_answer_is_posted(a2a, sent):
    a2a("post-result", sent, "--status", "ok", "--text", "6", "--direct")

    assert Task.objects.get().is_direct


@pytest.mark.parametrize("command", [("say", "{}", "a"), ("messages", "{}"), ("artifacts", "{}")])
def test_an_absent_task_is_refused(a2a, cast, command):
    with pytest.raises(CommandError, match="known to you"):
        a2a(*(word.format(uuid4()) for word in command))
