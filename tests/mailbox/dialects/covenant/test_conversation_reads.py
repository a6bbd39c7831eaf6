"""Leases of a task by its id, and reads of its messages and artifacts."""

import threading
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection
from django.utils import timezone

from mailbox.access.limits import waits
from mailbox.database import paging
from mailbox.life import leasing, results, updates
from mailbox.life.conversation import say
from mailbox.models import Artifact, Message, Task
from mailbox.words import json_text
from mailbox.words.conversation import Update, UpdateStatus, Words
from tests.support import factories
from tests.support.api import Api, error_of
from tests.support.pauses import act_in_pauses, until

pytestmark = pytest.mark.django_db


def said(task, text, **fields):
    """Store a message of the task, as if a verb had."""
    task.change()
    content = json_text.dumps([{"type": "text", "text": text}])
    return Message.objects.create(task=task, seq=task.journal_seq, content=content, said_at=timezone.now(), **fields)


def made(task, text, *, artifact_id="result", append=False, last_chunk=False, **extra):
    """Store a chunk of an artifact, as if a verb had."""
    task.change()
    return Artifact.objects.create(
        task=task,
        seq=task.journal_seq,
        artifact_id=artifact_id,
        append=append,
        last_chunk=last_chunk,
        content=json_text.dumps([{"type": "text", "text": text}]),
        extra=json_text.dumps(extra),
        said_at=timezone.now(),
    )


def texts(blocks):
    return [block["text"] for block in blocks]


def test_a_task_is_leased_by_its_id_before_older_tasks(alice, bob):
    factories.sent_task(alice, bob)
    wanted = factories.sent_task(alice, bob)
    attempt_id = str(uuid4())
    path = f"/a2a/tasks/{wanted.uuid}/lease"

    first, again = (Api(bob).post(path, {"attempt_id": attempt_id}).json() for _ in range(2))

    assert first == again
    assert (first["kind"], first["task"]["id"], first["turn"]) == ("a2a_task_leased", str(wanted.uuid), 1)
    assert "message" not in first
    assert error_of(Api(bob).post(path)) == (409, "not_in_flight")


def test_a_lease_shows_the_newest_message_of_the_sender(alice, bob):
    task = factories.sent_task(alice, bob)
    said(task, "to Rome", role="user", message_id="m-1", extra=json_text.dumps({"metadata": {"a": 1}}))
    said(task, "by train", role="user")
    said(task, "which day?")
    Task.objects.update(turn=3)

    leased = Api(bob).post("/a2a/tasks/next").json()

    assert leased["turn"] == 3
    assert leased["message"].items() >= {"role": "user", "content": [{"type": "text", "text": "by train"}]}.items()
    assert len(leased["message"]["message_id"]) == 36
    assert Api(bob).post(f"/a2a/tasks/{task.uuid}/heartbeat").json()["turn"] == 3


def test_messages_begin_with_the_task_and_go_on_after_a_number(alice, bob):
    task = factories.sent_task(alice, bob, intent_text="to Rome")
    said(task, "which day?")
    said(task, "on Monday", role="user", message_id="m-1", extra=json_text.dumps({"metadata": {"a": 1}}))
    path = f"/a2a/tasks/{task.uuid}/messages"

    read = Api(bob).get(path).json()

    assert (read["kind"], read["state"], read["next_after"]) == ("a2a_messages", "queued", None)
    assert [(one["role"], texts(one["content"]), one["seq"]) for one in read["messages"]] == [
        ("user", ["to Rome"], 1),
        ("agent", ["which day?"], 2),
        ("user", ["on Monday"], 3),
    ]
    assert read["messages"][2].items() >= {"message_id": "m-1", "metadata": {"a": 1}}.items()
    assert read == Api(alice).get(path).json()
    page = Api(alice).get(path, after=1, limit=1).json()
    assert (texts(page["messages"][0]["content"]), page["next_after"]) == (["which day?"], 2)
    assert Api(alice).get(path, after=3).json()["messages"] == []


def test_a_page_of_messages_ends_at_its_budget(alice, bob):
    task = factories.sent_task(alice, bob)
    for number in range(4):
        said(task, f"{number}" * (paging.BUDGET * 2 // 5))
    path = f"/a2a/tasks/{task.uuid}/messages"

    first = Api(alice).get(path).json()
    rest = Api(alice).get(path, after=first["next_after"]).json()

    assert [len(page["messages"]) for page in (first, rest)] == [3, 2]
    assert rest["next_after"] is None


@pytest.mark.parametrize("query", [{"after": -1}, {"after": "x"}, {"limit": 0}, {"wait_ms": 600_001}, {"since": 1}])
def test_a_wrong_query_is_named(alice, bob, query):
    task = factories.sent_task(alice, bob)

    refused = Api(alice).get(f"/a2a/tasks/{task.uuid}/messages", **query)

    assert error_of(refused) == (400, "invalid_request")
    assert list(refused.json()["fields"]) == list(query)


@pytest.mark.django_db(transaction=True)
def test_a_read_waits_for_a_message(alice, bob):
    task = factories.leased_task(alice, bob).task
    found = []

    def read():
        found.append(Api(alice).get(f"/a2a/tasks/{task.uuid}/messages", after=1, wait_ms=600_000).json())
        connection.close()

    reader = threading.Thread(target=read)
    reader.start()
    until(lambda: waits.live(alice.agent.pk) == 1)

    updates.post_updates(bob, task.uuid, [Update(message=[{"type": "text", "text": "done soon"}])])

    reader.join()
    assert texts(found[0]["messages"][0]["content"]) == ["done soon"]


def test_a_read_does_not_wait_once_the_task_is_resolved(alice, bob):
    task = factories.sent_task(alice, bob)
    results.post_result(bob, factories.result_envelope(task))

    read = Api(alice).get(f"/a2a/tasks/{task.uuid}/messages", after=1, wait_ms=60_000).json()

    assert (read["state"], read["messages"]) == ("resolved", [])


def ask_without_words(bob, task):
    updates.post_updates(bob, task.uuid, [Update(status=UpdateStatus.INPUT_REQUIRED)])


def test_a_question_without_words_ends_a_wait_once(alice, bob, monkeypatch):
    task = factories.leased_task(alice, bob).task
    path = f"/a2a/tasks/{task.uuid}/messages"
    pauses = []
    act_in_pauses(monkeypatch, lambda: ask_without_words(bob, task), lambda: pauses.append("after the question"))

    read = Api(alice).get(path, after=1, wait_ms=60_000).json()

    assert (read["state"], read["awaits"], read["messages"]) == ("interrupted", "input", [])
    assert (read["next_after"], pauses) == (3, [])
    following = Api(alice).get(path, after=read["next_after"], wait_ms=60_000).json()
    assert (following["state"], following["messages"], following["next_after"]) == ("interrupted", [], None)
    assert pauses == ["after the question"]


def test_a_page_with_the_last_messages_leads_past_a_question_without_words(alice, bob):
    task = factories.leased_task(alice, bob).task
    updates.post_updates(bob, task.uuid, [Update(message=[{"type": "text", "text": "reading"}])])
    ask_without_words(bob, task)
    path = f"/a2a/tasks/{task.uuid}/messages"

    assert Api(alice).get(path, after=1).json()["next_after"] == 4
    assert Api(alice).get(path, limit=1).json()["next_after"] == 1


def test_an_answered_question_without_words_ends_no_wait(alice, bob):
    task = factories.leased_task(alice, bob).task
    ask_without_words(bob, task)
    say(alice, task.uuid, Words(content=[{"type": "text", "text": "on Monday"}]))

    read = Api(alice).get(f"/a2a/tasks/{task.uuid}/messages", after=1).json()

    assert ([texts(one["content"]) for one in read["messages"]], read["next_after"]) == ([["on Monday"]], None)


def test_a_read_expires_a_task_past_its_deadline(alice, bob):
    task = factories.sent_task(alice, bob)
    Task.objects.update(deadline_ms=1)

    assert Api(alice).get(f"/a2a/tasks/{task.uuid}/messages").json()["state"] == "resolved"


def test_artifacts_are_folded_from_their_chunks(alice, bob):
    task = factories.sent_task(alice, bob)
    made(task, "old", artifact_id="page")
    made(task, "gone", artifact_id="page", append=True)
    made(task, "table", artifact_id="table", last_chunk=True, name="Table", metadata={"rows": 1})
    made(task, "new ", artifact_id="page")
    made(task, "page", artifact_id="page", append=True, last_chunk=True)

    answer = Api(alice).get(f"/a2a/tasks/{task.uuid}/artifacts").json()

    assert (answer["kind"], answer["next_cursor"]) == ("a2a_artifacts", None)
    table, page = answer["artifacts"]
    assert (page["artifact_id"], texts(page["content"]), page["last_chunk"]) == ("page", ["new ", "page"], True)
    assert (page["append"], page["seq"]) == (False, task.journal_seq)
    assert table.items() >= {"name": "Table", "metadata": {"rows": 1}, "last_chunk": True}.items()
    assert "name" not in page


def test_an_artifact_goes_on_over_pages(alice, bob):
    task = factories.sent_task(alice, bob)
    for number in range(5):
        made(task, f"{number}", append=number > 0, last_chunk=number == 4)
    path = f"/a2a/tasks/{task.uuid}/artifacts"
    answers = [Api(bob).get(path, limit=2).json()]
    while cursor := answers[-1]["next_cursor"]:
        answers.append(Api(bob).get(path, limit=2, cursor=cursor).json())
    pages = [page for answer in answers for page in answer["artifacts"]]

    assert [texts(page["content"]) for page in pages] == [["0", "1"], ["2", "3"], ["4"]]
    assert [page["append"] for page in pages] == [False, True, True]
    assert [page["last_chunk"] for page in pages] == [False, False, True]
    assert error_of(Api(bob).get(path, cursor="x")) == (400, "invalid_request")


def test_a_holder_whose_lease_timed_out_reads_on(alice, bob):
    task = factories.sent_task(alice, bob, work_timeout=timedelta(milliseconds=1))
    leasing.lease_tasks(bob)

    assert Api(bob).get(f"/a2a/tasks/{task.uuid}/messages").json()["state"] == "resolved"


def test_a_batch_of_leases_shows_the_newest_message_of_each_sender(alice, bob):
    answered, silent = (factories.sent_task(alice, bob) for _ in range(2))
    for words in ("to Rome", "by train"):
        Api(alice).post(f"/a2a/tasks/{answered.uuid}/messages", {"content": words})

    leases = Api(bob).post("/a2a/tasks/lease", {"max": 2}).json()["leases"]

    assert [(lease["task"]["id"], lease["turn"]) for lease in leases] == [
        (str(answered.uuid), 3),
        (str(silent.uuid), 1),
    ]
    assert leases[0]["message"]["content"] == [{"type": "text", "text": "by train"}]
    assert "message" not in leases[1]


def test_messages_beyond_the_budget_of_a_batch_are_left_out(alice, bob, monkeypatch):
    monkeypatch.setattr("mailbox.database.paging.BUDGET", 1_000)
    for task in [factories.sent_task(alice, bob) for _ in range(3)]:
        Api(alice).post(f"/a2a/tasks/{task.uuid}/messages", {"content": "x" * 800})

    leases = Api(bob).post("/a2a/tasks/lease", {"max": 3}).json()["leases"]

    assert [lease["turn"] for lease in leases] == [2, 2, 2]
    assert sum("message" in lease for lease in leases) == 1


def test_a_message_in_the_role_of_an_agent_is_still_shown_as_its_sender_s(alice, bob):
    lease = factories.leased_task(alice, bob)
    words = Words(content=[{"type": "text", "text": "green"}], as_agent=True)

    say(alice, lease.task.uuid, words)
    read = Api(bob).get(f"/a2a/tasks/{lease.task.uuid}/messages").json()["messages"][-1]

    assert read["role"] == "user"
    assert Message.objects.get(task=lease.task).details == {"role": "agent"}
