"""The files of SQLite keep no byte of an erased text. On PostgreSQL the old bytes go with the next vacuum."""

import os
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from mailbox.database import old_bytes
from mailbox.inspection.search import queries
from mailbox.inspection.search.terms import Moment
from mailbox.life import results
from mailbox.models import AuditEvent
from mailbox.words import json_text
from mailbox.words.envelopes import ResultStatus
from mailbox.words.kinds import Kind
from tests.support import factories

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.skipif("connection.vendor != 'sqlite'")]


@pytest.fixture
def files(transactional_db):
    """Return the open files of the database. To close one earlier would end the locks of this process."""
    names = [f"{connection.settings_dict['NAME']}{end}" for end in ("", "-wal")]
    factories.agent("writer")  # the log of changes exists from the first change
    with ExitStack() as opened:
        yield [opened.enter_context(Path(name).open("rb")) for name in names]
        connection.close()


def is_kept(text, files):
    return any(text.encode() in os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0) for file in files)


def test_the_files_of_sqlite_keep_no_byte_of_an_erased_task(alice, bob, files):
    text = f"the text of {uuid4()}"
    factories.grant(alice, f"a2a.send.{bob.agent.display}")
    task = factories.leased_task(alice, bob, intent_text=text).task
    results.post_result(bob, factories.result_envelope(task, content=[{"type": "text", "text": text}]))
    assert is_kept(text, files)
    call_command("a2a", "erase", "--task", str(task.uuid), "--reason", "asked for")
    assert not is_kept(text, files)


def test_the_full_text_of_sqlite_keeps_no_word_of_an_erased_task(alice, bob, monkeypatch):
    monkeypatch.setattr(old_bytes, "PAGES_AT_ONCE", 1)  # so that a merge takes several steps
    factories.grant(alice, f"a2a.send.{bob.agent.display}")
    said, failed, told, *others = (uuid4().hex for _ in range(20))
    task = factories.leased_task(alice, bob, intent_text=f"text {said}").task
    error = factories.result_envelope(task, status=ResultStatus.ERROR, error_message=f"error {failed}", content=[])
    results.post_result(bob, error)
    now = timezone.now()
    kind, data = Kind.TASK_CANCELLED, json_text.dumps({"reason": f"reason {told}"})
    AuditEvent.objects.create(kind=kind, actor="x", data=data, at=now, source="api", task_id=task.uuid)
    for other in others:
        factories.sent_task(alice, bob, intent_text=f"{other} " * 50)
    assert {said, failed, told} == words_in_full_text(said, failed, told)

    call_command("a2a", "erase", "--task", str(task.uuid), "--reason", "asked for")

    assert not words_in_full_text(said, failed, told)
    assert words_in_full_text(*others) == set(others)
    assert queries.tasks(others[0], Moment(now=now, stale_after=timedelta(minutes=5))).exists()


def words_in_full_text(*words):
    """Return the words whose bytes are in a full-text table. A word is written without the start of the one before."""
    names = [name for name in connection.introspection.table_names() if name.endswith(("_words_data", "_words_idx"))]
    with connection.cursor() as cursor:
        rows = [row for name in names for row in cursor.execute(f"SELECT * FROM {name}").fetchall()]  # noqa: S608
    stored = b"".join(value for row in rows for value in row if isinstance(value, bytes))
    return {word for word in words if word[8:].encode() in stored}
