"""Artifacts and chunks that a holder produces."""

from uuid import uuid4

import pytest

from mailbox.life import updates
from mailbox.models import Artifact, Task
from mailbox.words.conversation import ArtifactUpdate, Update
from mailbox.words.errors import InvalidRequestError
from mailbox.words.kinds import Kind
from tests.support import factories
from tests.support.factories import text

pytestmark = pytest.mark.django_db

REPORT = ArtifactUpdate(content=text("one"), artifact_id="report", name="Report", metadata={"a": 1}, extensions=["x"])
MORE = ArtifactUpdate(content=text("two"), artifact_id="report", append=True, last_chunk=True)


@pytest.fixture
def task(alice, bob):
    return factories.leased_task(alice, bob).task


def test_the_journal_names_an_artifact_and_holds_nothing_of_it(bob, task):
    before = Task.objects.get()

    posted = updates.post_updates(bob, task.uuid, [REPORT, Update(progress=0.5), MORE])

    first, second = Artifact.objects.in_order()
    rows = factories.journal(Kind.TASK_UPDATED)
    assert [row.seq for row in rows] == [3, 4, 5]
    assert (first.seq, second.seq, posted.seq) == (3, 5, 5)
    assert (first.blocks, first.details) == (text("one"), {"name": "Report", "metadata": {"a": 1}, "extensions": ["x"]})
    assert (first.append, first.last_chunk, second.append, second.last_chunk) == (False, False, True, True)
    assert rows[2].fields["artifact"] == {
        "artifact_id": "report",
        "append": True,
        "last_chunk": True,
        "blocks": 1,
        "bytes": len(second.content),
    }
    assert "two" not in rows[2].data
    stored = sum(len(row.content) + len(row.artifact_id) for row in (first, second)) + len(first.extra)
    progress = len('[{"type":"progress","value":0.5,"note":""}]')
    assert Task.objects.get().size == before.size + stored + progress


def test_an_artifact_without_a_name_is_the_result(bob, task):
    updates.post_updates(bob, task.uuid, [ArtifactUpdate(content=text("x"))])

    assert Artifact.objects.get().artifact_id == "result"


@pytest.mark.parametrize("batch", [[MORE], [Update(progress=0.1), MORE], [MORE, REPORT]])
def test_a_chunk_needs_its_artifact(bob, task, batch):
    with pytest.raises(InvalidRequestError) as refusal:
        updates.post_updates(bob, task.uuid, batch)

    assert list(refusal.value.fields) == [f"updates.{batch.index(MORE)}.artifact.append"]
    assert not Artifact.objects.exists()
    assert factories.life_of(task) == ["a2a_task_sent", "a2a_task_leased"]


def test_a_chunk_needs_the_artifact_of_its_own_task(alice, bob, task):
    updates.post_updates(bob, task.uuid, [REPORT])
    other = factories.leased_task(alice, bob).task

    with pytest.raises(InvalidRequestError):
        updates.post_updates(bob, other.uuid, [MORE])
    updates.post_updates(bob, task.uuid, [MORE])


@pytest.mark.parametrize("other", [[REPORT], [REPORT, REPORT], [MORE, MORE], [REPORT, Update(message=text("two"))]])
def test_a_repeated_attempt_produces_once_and_another_is_refused(bob, task, other):
    attempt = uuid4()
    first = updates.post_updates(bob, task.uuid, [REPORT, MORE], attempt_id=attempt)

    assert updates.post_updates(bob, task.uuid, [REPORT, MORE], attempt_id=attempt) == first
    with pytest.raises(InvalidRequestError):
        updates.post_updates(bob, task.uuid, other, attempt_id=attempt)
    assert Artifact.objects.count() == 2
