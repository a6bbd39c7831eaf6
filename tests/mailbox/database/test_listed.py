from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from mailbox.database.compiled import Compiled, ListParameter
from mailbox.models import Lease, Task
from tests.support import factories

pytestmark = pytest.mark.django_db


def test_many_keys_are_one_parameter(alice, bob):
    first, second, _ = (factories.sent_task(alice, bob) for _ in range(3))

    with CaptureQueriesContext(connection) as made:
        found = set(Task.objects.filter(pk__among=[first.pk, second.pk, *range(10**9, 10**9 + 500)]))

    assert found == {first, second}
    assert made[0]["sql"].count("(") < 6


@pytest.mark.parametrize("field", ["pk__among", "task__pk__among"])
def test_no_key_is_among_none(alice, bob, field):
    factories.leased_task(alice, bob)

    assert not Lease.objects.filter(**{field: []}).exists()


def test_rows_are_found_by_the_key_of_another(alice, bob):
    lease, other = (factories.leased_task(alice, bob) for _ in range(2))

    assert list(Lease.objects.filter(task__pk__among=[lease.task_id])) == [lease]
    assert list(Lease.objects.exclude(task__pk__among=[lease.task_id])) == [other]


@pytest.mark.parametrize("field", ["pk", "uuid", "sent_at"])
def test_rows_are_found_by_keys_ids_and_moments(alice, bob, field):
    first, second, _ = (factories.sent_task(alice, bob) for _ in range(3))
    wanted = [getattr(task, field) for task in (first, second)]
    query = Compiled(Task.objects.filter(**{f"{field}__among": ListParameter("wanted")}))

    for found in (Task.objects.filter(**{f"{field}__among": wanted}), query.rows(wanted=wanted)):
        assert set(found) == {first, second}
    assert query.rows(wanted=wanted[:1]) == [first]
    assert query.rows(wanted=[]) == []


def test_an_unknown_id_is_among_none(alice, bob):
    factories.sent_task(alice, bob)

    assert not Task.objects.filter(uuid__among=[uuid4()]).exists()
