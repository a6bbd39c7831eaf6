import pytest
from django.contrib.auth.models import Group, Permission
from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from django.utils import timezone

from mailbox.models import AuditEvent


@pytest.fixture
def event(transactional_db):
    return AuditEvent.objects.create(kind="test", actor="tests", data="{}", at=timezone.now(), source="cli")


def ids_of(model):
    return set(model.objects.values_list("pk", flat=True))


def test_a_flush_empties_the_journal_and_keeps_what_migrations_made(event):
    permissions, types = ids_of(Permission), ids_of(ContentType)

    call_command("flush", interactive=False, verbosity=0)

    assert not AuditEvent.objects.exists()
    assert permissions
    assert (ids_of(Permission), ids_of(ContentType)) == (permissions, types)
    assert {group.name for group in Group.objects.all()} == {"viewer", "operator", "admin"}


def test_the_journal_is_append_only_again_after_a_flush(event):
    call_command("flush", interactive=False, verbosity=0)
    event.pk = None
    event.save(force_insert=True)

    for change in (lambda: AuditEvent.objects.update(actor="mallory"), AuditEvent.objects.all().delete, _truncate):
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            change()
    assert AuditEvent.objects.get().actor == "tests"


def _truncate():
    with connection.cursor() as cursor:
        verb = "TRUNCATE" if connection.vendor == "postgresql" else "DELETE FROM"
        cursor.execute(f"{verb} mailbox_auditevent")
