"""Answers that consist of artifacts and closing words reach the senders of every dialect, whole."""

import json

import pytest

from mailbox.access.callers import Role
from mailbox.dialects.corvid import handler
from mailbox.dialects.marianne import inbox
from mailbox.dialects.yeoman import tasks as yeoman
from mailbox.inspection import answers, official_tasks, task_events
from mailbox.life import batches, leasing, replay, results
from mailbox.models import Artifact, PushDelivery, ReplayEntry, Result, Task
from mailbox.upkeep import compaction
from mailbox.words import json_text
from mailbox.words.a2a import v1_0
from mailbox.words.envelopes import ResultStatus
from tests.support import factories, talking
from tests.support.api import Api
from tests.support.factories import text

pytestmark = pytest.mark.django_db

IMAGE = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
TABLE = {"type": "json", "value": {"rooms": 2}}
WORDS = text("that is all")


def produced(bob, task):
    """Post a text in two chunks, then a table."""
    talking.made(bob, task, "one ", artifact_id="report", name="Report")
    talking.made(bob, task, TABLE, artifact_id="table", last_chunk=True)
    talking.made(bob, task, "two", artifact_id="report", append=True, last_chunk=True)


def answered(alice, bob, /, *, message=WORDS, content=(), status=ResultStatus.OK, error_message=None, **fields):
    """Return the result of a task that bob answered by artifacts and closing words."""
    task = factories.leased_task(alice, bob, **fields).task
    produced(bob, task)
    posted = factories.result_envelope(
        task, status=status, content=content, message=message, error_message=error_message
    )
    return results.post_result(bob, posted)


def in_corvid(alice, result):
    shown = handler.handle_task_get(alice, result.task.uuid)
    assert shown is not None
    return [message["parts"][0]["text"] for message in shown["messages"]]


def in_marianne(bob, result):
    return inbox.task_in(bob, bob.agent, result.task.uuid)


def test_the_last_message_in_corvid_is_the_whole_answer(alice, bob):
    texts = in_corvid(alice, answered(alice, bob))

    assert texts[1:] == ['one two\n{"rooms":2}\nthat is all']


def test_a_block_without_a_form_as_text_leaves_a_note_in_corvid(alice, bob):
    task = factories.leased_task(alice, bob).task
    talking.made(bob, task, IMAGE, {"type": "resource_link", "uri": "https://a.example/x", "name": "x"})
    result = results.post_result(bob, factories.result_envelope(task, content=()))

    assert in_corvid(alice, result)[-1] == "[image image/png is left out: answers have text alone]\nhttps://a.example/x"


def test_closing_words_follow_the_content_in_corvid_and_alone_stay_a_message(alice, bob):
    with_content = answered(alice, bob, content=text("the content"))
    task = factories.leased_task(alice, bob).task
    alone = results.post_result(bob, factories.result_envelope(task, content=(), message=WORDS))

    assert in_corvid(alice, with_content)[-1] == "the content\nthat is all"
    assert in_corvid(alice, alone)[1:] == ["that is all"]


def test_the_result_in_yeoman_has_the_blocks_of_the_artifacts_and_the_closing_words(alice, bob):
    result = answered(alice, bob, dialect="yeoman")

    whole = {"content": [*text("one two"), TABLE, *WORDS]}
    assert yeoman.record(alice, str(result.task.uuid))["result"] == whole
    assert [one["result"] for one in yeoman.newest(alice, limit=10)[0]] == [whole]


def parts_of(shown):
    return [[part.get("text", part.get("data")) for part in one["parts"]] for one in shown]


@pytest.mark.parametrize(
    ("end", "words"),
    [
        ({}, ["that is all"]),
        ({"status": ResultStatus.ERROR, "error_message": "no rooms"}, ["no rooms", "that is all"]),
    ],
    ids=["ok", "error"],
)
def test_a_task_of_the_official_protocol_has_its_artifacts_and_the_closing_words(alice, bob, end, words):
    result = answered(alice, bob, dialect="a2a", reads_result=True, **end)

    shown = v1_0.task(task_events.view_of(official_tasks.find(alice.agent, bob.agent, str(result.task.uuid))))

    assert [one["artifactId"] for one in shown["artifacts"]] == ["report", "table"]
    assert parts_of(shown["artifacts"]) == [["one ", "two"], [{"rooms": 2}]]
    assert parts_of([shown["status"]["message"]]) == [words]


def test_the_callback_has_them_too(alice, bob):
    answered(alice, bob, callback_url="https://alice.example/done")

    assert json.loads(PushDelivery.objects.get().body)["result"] == {"content": [*text("one two"), TABLE, *WORDS]}


def test_the_artifacts_in_marianne_are_merged_and_whole(alice, bob):
    plain = answered(alice, bob)
    task = factories.leased_task(alice, bob).task
    talking.made(bob, task, TABLE, IMAGE)
    mixed = results.post_result(bob, factories.result_envelope(task, content=()))

    assert in_marianne(bob, plain).artifacts == {"rooms": 2, "text": "one two\nthat is all"}
    assert in_marianne(bob, mixed).artifacts == {"rooms": 2, "content": [TABLE, IMAGE]}
    listed = inbox.tasks_in(bob, bob.agent)
    assert [one.artifacts for one in listed.items] == [in_marianne(bob, one).artifacts for one in (plain, mixed)]


def test_a_failure_keeps_its_closing_words(alice, bob):
    failed = answered(alice, bob, status=ResultStatus.ERROR, error_message="no rooms")

    assert in_corvid(alice, failed)[-1] == "no rooms\nthat is all"
    assert in_marianne(bob, failed).failure_reason == "no rooms\nthat is all"
    shown = yeoman.record(alice, str(failed.task.uuid))["result"]
    assert shown == {"error": "no rooms", "content": [*text("one two"), TABLE, *WORDS]}


def test_an_artifact_beyond_the_room_of_an_answer_leaves_a_mark(alice, bob):
    result = answered(alice, bob)
    report, table = answers.beside([result])[result.pk].artifacts
    words = len(json_text.dumps(WORDS))

    small = answers.whole([result], budget=words + table.characters)[result.pk]
    none = answers.whole([result], budget=0)[result.pk]

    route = f"/a2a/tasks/{result.task.uuid}"
    mark = f"[left out: artifact report, {report.characters} characters; read {route}/artifacts]"
    assert small.blocks == [*text(mark), TABLE, *WORDS]
    assert none.blocks[0] == text(mark)[0]
    assert none.blocks[2] == text(f"[left out: the closing words, {words} characters; read {route}/messages]")[0]


def test_the_answers_of_one_page_share_its_room(alice, bob):
    one, two = answered(alice, bob), answered(alice, bob)
    room = sum(named.characters for named in answers.beside([one])[one.pk].artifacts) + len(json_text.dumps(WORDS))

    first, second = answers.whole([one, two], budget=room).values()

    assert first.content == [*text("one two"), TABLE]
    assert all(block["text"].startswith("[left out: ") for block in second.blocks)


def test_the_result_of_the_mailbox_names_closing_words_and_artifacts(alice, bob):
    result = answered(alice, bob)
    api = Api(alice)
    named = {
        "message": WORDS,
        "artifacts": [
            {"artifact_id": "report", "name": "Report", "last_chunk": True, "characters": 61},
            {"artifact_id": "table", "last_chunk": True, "characters": 37},
        ],
        "artifacts_left": 0,
        "artifacts_route": f"/a2a/tasks/{result.task.uuid}/artifacts",
    }

    shown = [api.get("/a2a/results/recent").json()["results"][0]]
    shown.append(api.get(f"/a2a/tasks/{result.task.uuid}/result").json()["result"])
    shown.append(api.get("/a2a/results/next").json()["result"])
    shown.append(api.get("/a2a/results/delivered").json()["results"][0])

    assert [{key: one.get(key) for key in named} for one in shown] == [named] * len(shown)
    assert len(api.get(f"/a2a/tasks/{result.task.uuid}/artifacts").json()["artifacts"]) == 2


def test_a_batch_of_drains_names_them_and_leaves_plain_results_as_they_were(alice, bob):
    marked = answered(alice, bob)
    plain = factories.resolved_task(alice, bob)

    drained = Api(alice).post("/a2a/results/drain", {"max": 2}).json()["results"]

    assert [one["task_id"] for one in drained] == [str(marked.task.uuid), str(plain.task.uuid)]
    assert drained[0]["message"] == WORDS
    assert drained[1].keys() == {"task_id", "status", "content"}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("in_a_batch", [False, True])
def test_a_result_is_marked_also_on_the_fast_path(alice, bob, in_a_batch):
    task, other = (factories.leased_task(alice, bob).task for _ in range(2))
    talking.made(bob, task, "one")
    envelopes = [factories.result_envelope(one) for one in (task, other)]

    if in_a_batch:
        batches.post_results(bob, envelopes)
    else:
        for envelope in envelopes:
            results.post_result(bob, envelope)

    assert list(Result.objects.order_by("task").values_list("has_more", flat=True)) == [True, False]


def test_plain_results_cost_no_query(alice, bob, django_assert_num_queries):
    plain = [factories.resolved_task(alice, bob) for _ in range(2)]

    with django_assert_num_queries(0):
        assert answers.beside(plain) == {}
        assert [one.blocks for one in answers.whole(plain).values()] == [one.blocks for one in plain]


def duplicate(alice, bob, **fields):
    return factories.sent_task(alice, bob, idempotency=factories.idempotent("k"), intent_text="work", **fields)


def test_a_duplicate_that_waited_gets_artifacts_and_closing_words_of_its_own(alice, bob):
    leader = factories.leased_task(alice, bob, idempotency=factories.idempotent("k"), intent_text="work").task
    waiter = duplicate(alice, bob)
    produced(bob, leader)
    results.post_result(bob, factories.result_envelope(leader, content=(), message=WORDS))

    result = Result.objects.select_related("task").get(task=waiter)

    assert in_corvid(alice, result)[-1] == 'one two\n{"rooms":2}\nthat is all'
    assert yeoman.record(alice, str(waiter.uuid))["result"] == {"content": [*text("one two"), TABLE, *WORDS]}
    rows = Artifact.objects.filter(task=waiter).in_order()
    assert [(row.artifact_id, row.seq, row.append, row.last_chunk) for row in rows] == [
        ("report", 2, False, True),
        ("table", 3, False, True),
    ]
    life = [row.seq for row in factories.journal("a2a_task_updated") if row.task_id == waiter.uuid]
    assert life == [2, 3]
    assert Task.objects.get(pk=waiter.pk).journal_seq == 4


def test_a_later_duplicate_gets_them_after_the_compaction_of_the_first(alice, bob):
    first = answered(alice, bob, idempotency=factories.idempotent("k"), intent_text="work")
    results.drain_results(alice)
    results.ack_results(alice, [first.task.uuid])
    compaction.compact(factories.person("ada", Role.ADMIN), factories.AT_ONCE)
    assert not Task.objects.exists()

    later = duplicate(alice, bob)

    assert yeoman.record(alice, str(later.uuid))["result"] == {"content": [*text("one two"), TABLE, *WORDS]}
    assert Task.objects.get().size == later.size


def test_large_artifacts_are_not_copied_so_the_duplicate_runs_by_itself(alice, bob, monkeypatch):
    monkeypatch.setattr(replay, "MOST", 100)
    leader = factories.leased_task(alice, bob, idempotency=factories.idempotent("k"), intent_text="work").task
    waiter = duplicate(alice, bob)
    produced(bob, leader)
    results.post_result(bob, factories.result_envelope(leader, content=(), message=WORDS))

    assert not ReplayEntry.objects.exists()
    assert [lease.task for lease in leasing.lease_tasks(bob)] == [waiter]


def test_a_duplicate_of_a_plain_result_has_nothing_more(alice, bob):
    first = factories.leased_task(alice, bob, idempotency=factories.idempotent("k"), intent_text="work").task
    results.post_result(bob, factories.result_envelope(first))

    later = duplicate(alice, bob)

    assert (ReplayEntry.objects.get().parts, later.result.has_more) == ("{}", False)
