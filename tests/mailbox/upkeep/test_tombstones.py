"""The journal allows tombstones alone as changes, and a tombstone needs a row that names it."""

from datetime import timedelta

import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from mailbox.models import AuditEvent
from mailbox.upkeep import sealing, verification
from mailbox.words.sealed import Tombstone, digest_of
from tests.support.tampering import old_rows, triggers_off

pytestmark = pytest.mark.django_db


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


@pytest.mark.parametrize("is_erasure", [False, True], ids=["another row", "an erasure of another row"])
def test_an_erasure_that_no_row_backs_is_an_alarm(monkeypatch, is_erasure):
    monkeypatch.setattr(sealing, "RIPE_AFTER", timedelta(0))
    row, other = old_rows(2)
    by = backing([other.pk]) if is_erasure else other
    sealing.seal()
    with triggers_off():
        AuditEvent.objects.filter(pk=row.pk).update(data=str(Tombstone(digest_of(row.data), by.pk)))

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
