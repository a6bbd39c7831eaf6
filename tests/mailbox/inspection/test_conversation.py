"""Reads of a conversation: messages of both parties, and artifacts as the fold of their rows."""

from uuid import uuid4

import pytest

from mailbox.inspection import conversation as reads
from mailbox.life import conversation, updates
from mailbox.models import Task
from mailbox.words.conversation import ArtifactUpdate, Update, UpdateStatus, Words
from mailbox.words.envelopes import A2A
from mailbox.words.errors import UnknownTaskError
from tests.support import factories
from tests.support.factories import text

pytestmark = pytest.mark.django_db


@pytest.fixture
def task(alice, bob):
    """Return a leased task about which three messages were sent."""
    task = factories.leased_task(alice, bob).task
    updates.post_updates(bob, task.uuid, [Update(message=text("reading")), Update(progress=0.5, note="half")])
    conversation.say(alice, task.uuid, Words(content=text("hurry"), message_id="m-1"))
    return task


def spoken(read):
    return [(message.seq, message.role, message.words, message.progress) for message in read.page.items]


def test_the_messages_of_both_parties_are_read_in_order_after_the_task_itself(alice, bob, task):
    half = {"type": "progress", "value": 0.5, "note": "half"}
    told = [(3, "agent", text("reading"), None), (4, "agent", [], half), (5, "user", text("hurry"), None)]
    first = (1, "user", text(task.intent_text), None)

    assert spoken(reads.read(alice, task.uuid)) == spoken(reads.read(bob, task.uuid)) == [first, *told]
    assert spoken(reads.read(alice, task.uuid, after=3, limit=1)) == told[1:2]
    assert spoken(reads.read(alice, task.uuid, after=5)) == []


def test_a_task_of_the_official_protocol_begins_with_the_whole_message(alice, bob):
    block = {"type": "json", "value": [1]}
    stored = {"message_id": "m-1", "content": [block], "metadata": {"lang": "en"}}
    task = factories.sent_task(alice, bob, dialect=A2A, intent_text="[1]", metadata={"message": stored})
    other = factories.sent_task(alice, bob, intent_text="[1]", metadata={"message": stored})

    (message,) = reads.read(bob, task.uuid).page.items

    assert (message.words, message.shown_id, message.details) == ([block], "m-1", {"metadata": {"lang": "en"}})
    assert {key: newest.words for key, newest in reads.newest_of_senders([task, other]).items()} == {task.pk: [block]}
    assert spoken(reads.read(bob, other.uuid)) == [(1, "user", text("[1]"), None)]


def test_a_question_without_words_is_no_message(bob, task):
    updates.post_updates(bob, task.uuid, [Update(status=UpdateStatus.INPUT_REQUIRED)])

    assert len(reads.read(bob, task.uuid, after=1).page.items) == 3


def test_the_rows_of_an_artifact_that_was_replaced_are_left_out(alice, bob, task):
    def produce(words, **fields):
        updates.post_updates(bob, task.uuid, [ArtifactUpdate(content=text(words), **fields)])

    produce("lost", artifact_id="report", name="Old", description="gone")
    produce("log", artifact_id="log", last_chunk=True)
    produce("a", artifact_id="report", name="Report", metadata={"page": 1})
    produce("b", artifact_id="report", append=True, metadata={"page": 2}, last_chunk=True)

    rows = reads.artifacts(alice, task.uuid).items

    assert [row.blocks for row in rows] == [text("log"), text("a"), text("b")]


def test_strangers_and_absent_tasks_get_the_same_answer(mallory, task):
    absent = uuid4()
    for read in (reads.read, reads.artifacts):
        with pytest.raises(UnknownTaskError) as foreign:
            read(mallory, task.uuid)
        with pytest.raises(UnknownTaskError) as missing:
            read(mallory, absent)
        assert foreign.value.message.replace(str(task.uuid), "") == missing.value.message.replace(str(absent), "")


def test_people_read_each_conversation(olga, task):
    assert len(reads.read(olga, task.uuid).page.items) == 4


def test_the_newest_message_of_each_sender_is_read_at_once(alice, bob, task, django_assert_num_queries):
    silent = factories.sent_task(alice, bob)
    conversation.say(alice, task.uuid, Words(content=text("now")))
    tasks = list(Task.objects.all())

    with django_assert_num_queries(2):
        newest = reads.newest_of_senders(tasks)
    assert {key: message.words for key, message in newest.items()} == {task.pk: text("now")}
    assert newest[task.pk].shown_id
    with django_assert_num_queries(0):
        assert reads.newest_of_senders([silent]) == {}
