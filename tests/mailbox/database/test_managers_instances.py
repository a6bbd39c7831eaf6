"""Instances of rows equal those that Django makes."""

import pytest
from django.db import DEFAULT_DB_ALIAS, connection
from django.test.utils import CaptureQueriesContext

from mailbox.database import managers
from mailbox.models import Task
from tests.support.factories import sent_task

pytestmark = pytest.mark.django_db
NAMES = [field.attname for field in Task._meta.concrete_fields]


@pytest.fixture
def task(alice, bob):
    return Task.objects.get(pk=sent_task(alice, bob).pk)


def row(task):
    return [getattr(task, name) for name in NAMES]


def attributes(instance):
    return {name: value for name, value in vars(instance).items() if name != "_state"}


def test_an_instance_equals_djangos(task):
    made, wanted = managers.instance_of(Task, NAMES, row(task)), Task.from_db(DEFAULT_DB_ALIAS, NAMES, row(task))

    assert attributes(made) == attributes(wanted)
    assert (made._state.adding, made._state.db) == (wanted._state.adding, wanted._state.db) == (False, "default")
    assert made == wanted


def test_other_columns_are_read_at_their_first_use(task):
    made = managers.instance_of(Task, ["id", "uuid"], [task.pk, task.uuid])

    with CaptureQueriesContext(connection) as captured:
        assert (made.uuid, made.get_deferred_fields()) == (task.uuid, {*NAMES} - {"id", "uuid"})
        assert made.intent_text == task.intent_text

    assert len(captured) == 1


def test_related_instances_are_not_read_again(task):
    made = managers.instance_of(Task, NAMES, row(task), sender=task.sender, recipient=task.recipient)

    with CaptureQueriesContext(connection) as captured:
        assert (made.sender, made.recipient) == (task.sender, task.recipient)

    assert len(captured) == 0


def test_an_instance_is_saved_as_an_update(task):
    made = managers.instance_of(Task, NAMES, row(task))
    made.intent_text = "another"
    made.save(update_fields=["intent_text"])

    assert list(Task.objects.values_list("pk", "intent_text")) == [(task.pk, "another")]


def test_a_row_of_another_length_is_refused(task):
    with pytest.raises(ValueError, match="shorter"):
        managers.instance_of(Task, NAMES, row(task)[:-1])
