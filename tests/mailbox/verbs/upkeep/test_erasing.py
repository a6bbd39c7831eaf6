from __future__ import annotations

import subprocess
import sys
from datetime import timedelta
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from mailbox.database import old_bytes
from mailbox.gate import verification
from mailbox.gate.callers import Caller
from mailbox.models import AuditEvent, Message, Peer, PushAttempt, PushDelivery, ReplayEntry, Result, Task
from mailbox.verbs.agents import peers
from mailbox.verbs.life import results, updates
from mailbox.verbs.life.updates import Update
from mailbox.verbs.upkeep import compaction, erasing, sealing
from mailbox.verbs.upkeep.compaction import Retention
from mailbox.words.errors import InvalidRequestError, UnknownTaskError, WrongPartyError
from mailbox.words.sealed import Tombstone, digest_of
from tests.support import factories
from tests.support.tampering import old_rows, triggers_off

pytestmark = pytest.mark.django_db
SECRET = "the secret text"
CLI = Caller.command_line()
FILES_WITH_A_TEXT = """
import pathlib, sys
text, *files = sys.argv[1:]
print(sum(text.encode() in pathlib.Path(file).read_bytes() for file in files))
"""


def finished(alice, bob):
    """Return a finished task with every kind of payload."""
    lease = factories.leased_task(
        alice,
        bob,
        intent_text=SECRET,
        metadata={"of": SECRET},
        idempotency=factories.idempotent("key"),
        callback_url="https://hooks.example/",
    )
    updates.post_updates(bob, lease.task.uuid, [Update(message=[{"type": "text", "text": SECRET}])])
    results.post_result(
        bob, factories.result_envelope(lease.task, content=[{"type": "text", "text": SECRET}], error_message=SECRET)
    )
    return lease.task


def stored():
    """Return everything that the tables hold, as text."""
    models = (Task, Result, Message, PushDelivery, ReplayEntry, AuditEvent)
    return "\n".join(str(row) for model in models for row in model.objects.values())


def of_an_older_version(task):
    """Add a journal row with the text of an update, as older versions wrote it; return it."""
    number = AuditEvent.objects.of_task(task.uuid).count() + 100
    (row,) = old_rows(
        1, kind="a2a_task_updated", task_id=task.uuid, seq=number, data=f'{{"lease_id":"","message":"{SECRET}"}}'
    )
    return row


@pytest.fixture
def sealed(monkeypatch):
    """Return a function that seals all rows."""
    monkeypatch.setattr(sealing, "RIPE_AFTER", timedelta(0))
    return sealing.seal


def test_an_answer_that_repeats_a_callback_is_erased_with_it(alice, bob):
    task = finished(alice, bob)
    delivery = PushDelivery.objects.get()
    PushAttempt.objects.create(delivery=delivery, number=1, at=timezone.now(), problem=f"500: {SECRET}")
    PushAttempt.objects.create(delivery=delivery, number=2, at=timezone.now(), problem="")

    erasing.erase_task(CLI, task.uuid, reason="asked for")

    assert list(delivery.log.order_by("number").values_list("problem", flat=True)) == ["[erased]", ""]


def test_nothing_of_an_erased_task_is_left_and_the_seals_are_right(alice, bob, sealed):
    task = finished(alice, bob)
    row = of_an_older_version(task)
    sealed()
    assert SECRET in stored()

    erased = erasing.erase_task(CLI, task.uuid, reason="asked for")
    sealed()

    assert SECRET not in stored()
    assert (erased["tasks"], erased["results"], erased["callbacks"], erased["cached results"]) == (1, 1, 1, 1)
    found = verification.verify()
    assert found.finding is None
    assert row.pk in found.erased
    assert PushDelivery.objects.get().state == PushDelivery.State.DISABLED


def test_an_erasure_is_journalled_and_repeated_without_effect(alice, bob):
    task = finished(alice, bob)
    of_an_older_version(task)

    erasing.erase_task(CLI, task.uuid, reason="asked for")
    before = factories.journal_length()
    again = erasing.erase_task(CLI, task.uuid, reason="asked for")

    assert not any(again.values())
    assert factories.journal_length() == before
    first = factories.journal("a2a_erased")[0].fields
    assert (first["subject"], first["reason"]) == (f"task:{task.uuid}", "asked for")


def test_an_erasure_that_was_cut_off_is_completed_by_the_next(alice, bob, monkeypatch):
    task = finished(alice, bob)
    of_an_older_version(task)

    with monkeypatch.context() as patch:
        patch.setattr(erasing, "_bury", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            erasing.erase_task(CLI, task.uuid, reason="asked for")
    assert SECRET in stored()
    erasing.erase_task(CLI, task.uuid, reason="asked for")

    assert SECRET not in stored()


def test_a_compacted_task_can_be_erased(alice, bob):
    task = finished(alice, bob)
    of_an_older_version(task)
    results.drain_results(alice)
    compaction.compact(Caller.local(), Retention(delivered=timedelta(0)))
    assert not Task.objects.exists()

    erasing.erase_task(CLI, task.uuid, reason="asked for")

    assert SECRET not in stored()


def test_a_task_that_has_not_finished_is_not_erased(alice, bob):
    task = factories.sent_task(alice, bob, intent_text=SECRET)

    with pytest.raises(InvalidRequestError, match="not finished"):
        erasing.erase_task(CLI, task.uuid, reason="asked for")
    with pytest.raises(InvalidRequestError, match="not finished"):
        erasing.erase_agent(CLI, bob.agent, reason="asked for")

    assert SECRET in stored()


def test_unknown_tasks_blank_reasons_and_untrusted_callers_are_refused(alice, bob):
    task = finished(alice, bob)

    with pytest.raises(UnknownTaskError):
        erasing.erase_task(CLI, uuid4(), reason="asked for")
    with pytest.raises(InvalidRequestError):
        erasing.erase_task(CLI, task.uuid, reason=" ")
    with pytest.raises(WrongPartyError):
        erasing.erase_task(alice, task.uuid, reason="asked for")


def test_an_agent_s_tasks_of_both_sides_are_erased_and_others_stay(alice, bob):
    carol = factories.agent("carol", "a2a.respond.*", "a2a.send.*")
    finished(alice, bob)
    kept = finished(alice, carol)
    peers.seen(bob, "peer")

    erasing.erase_agent(CLI, bob.agent, reason="asked for")

    assert list(Task.objects.filter(intent_text=SECRET).values_list("uuid", flat=True)) == [kept.uuid]
    assert not Peer.objects.exists()
    assert ReplayEntry.objects.get().source_task_id == kept.uuid


def test_the_command_erases_cards_too(alice, bob):
    profile = factories.profile(bob, description=SECRET)
    finished(alice, bob)

    call_command("a2a", "erase", "--agent", "bob", "--reason", "asked for")

    profile.refresh_from_db()
    assert profile.description == ""
    assert SECRET not in stored()


@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="the old bytes go with PostgreSQL's next vacuum")
@pytest.mark.django_db(transaction=True)
def test_the_files_of_sqlite_keep_no_byte_of_an_erased_task(alice, bob):
    text = f"the text of {uuid4()}"
    factories.grant(alice, f"a2a.send.{bob.agent.display}")
    task = factories.leased_task(alice, bob, intent_text=text).task
    results.post_result(bob, factories.result_envelope(task, content=[{"type": "text", "text": text}]))
    database = connection.settings_dict["NAME"]

    def kept():
        # Another process reads the files: closing them here would end the locks of this process's connections.
        search = [sys.executable, "-c", FILES_WITH_A_TEXT, text, str(database), f"{database}-wal"]
        return int(subprocess.check_output(search))

    assert kept()
    call_command("a2a", "erase", "--task", str(task.uuid), "--reason", "asked for")
    assert not kept()


def test_an_erasure_reports_a_write_ahead_log_that_a_long_read_keeps(alice, bob, monkeypatch):
    task = finished(alice, bob)
    monkeypatch.setattr(old_bytes, "forget", lambda: False)

    with pytest.raises(CommandError, match="write-ahead log"):
        call_command("a2a", "erase", "--task", str(task.uuid), "--reason", "asked for")

    assert SECRET not in stored()


def backing(rows):
    (row,) = old_rows(1, kind="a2a_erased", data=f'{{"rows":{rows},"erased":{{}}}}')
    return row


@pytest.mark.parametrize(
    "change",
    [
        lambda row, by: {"data": str(Tombstone("0" * 64, by))},
        lambda row, by: {"data": str(Tombstone(digest_of(row.data), by + 1))},
        lambda row, by: {"data": str(Tombstone(digest_of(row.data), by)) + " "},
        lambda row, by: {"data": str(Tombstone(digest_of(row.data), by)), "actor": "mallory@local"},
        lambda row, by: {"data": str(Tombstone(digest_of(row.data), by)), "address": "192.0.2.9"},
        lambda row, by: {"data": str(Tombstone(digest_of(row.data), by)), "at": timezone.now()},
        lambda row, by: {"data": str(Tombstone(digest_of(row.data), row.pk))},
        lambda row, by: {"data": ""},
    ],
    ids=["hash", "backing", "text", "actor", "address", "time", "itself", "blank"],
)
def test_the_journal_allows_no_update_but_a_backed_tombstone(change):
    (row,) = old_rows(1)
    by = backing([row.pk]).pk

    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        AuditEvent.objects.filter(pk=row.pk).update(**change(row, by))

    assert AuditEvent.objects.get(pk=row.pk).data == row.data


def test_a_tombstone_needs_a_row_that_names_it_and_is_final():
    one, other = old_rows(2)
    by = backing([one.pk]).pk

    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        AuditEvent.objects.filter(pk=other.pk).update(data=str(Tombstone(digest_of(other.data), by)))
    AuditEvent.objects.filter(pk=one.pk).update(data=str(Tombstone(digest_of(one.data), by)))
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        AuditEvent.objects.filter(pk=one.pk).update(data=one.data)


def test_an_erasure_that_no_row_backs_is_an_alarm(sealed):
    row, _ = old_rows(2)
    sealed()
    with triggers_off():
        AuditEvent.objects.filter(pk=row.pk).update(data=str(Tombstone(digest_of(row.data), row.pk + 1)))

    found = verification.verify().finding

    assert found is not None
    assert found.row == row.pk
    assert "does not record that" in found.problem


@pytest.mark.skipif("connection.vendor != 'sqlite'", reason="PostgreSQL compares whole rows")
def test_the_trigger_of_sqlite_names_every_column():
    with connection.cursor() as cursor:
        cursor.execute("SELECT sql FROM sqlite_master WHERE name = 'mailbox_auditevent_append_only_update'")
        (sql,) = cursor.fetchone()

    columns = {field.column for field in AuditEvent._meta.concrete_fields} - {"data"}
    assert {name for name in columns if f"NEW.{name} IS OLD.{name}" in sql} == columns
