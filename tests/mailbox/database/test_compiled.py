from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models import CharField
from django.utils import timezone

from mailbox.database import compiled
from mailbox.database.compiled import NOW, Compiled, Parameter
from mailbox.database.paging import Counted, query_of_figures
from mailbox.models import Agent, Lease, Task
from tests.support import factories

MINUTE = timedelta(minutes=1)


@pytest.fixture
def leased(alice, bob):
    """A lease that began now, and a lease that began 5 minutes ago."""
    fresh, old = (factories.leased_task(alice, bob) for _ in range(2))
    Lease.objects.filter(pk=old.pk).update(leased_at=timezone.now() - 5 * MINUTE)
    return fresh, old


@pytest.mark.django_db
def test_a_query_is_built_once_for_each_shape_and_run_with_other_values(leased):
    built = []

    @compiled.once
    def stale(after):
        built.append(after)
        return Lease.objects.stale(NOW, after).values_list("pk", "leased_at")

    (_, old), now = leased, timezone.now()
    (row,) = stale(MINUTE).rows(now=now)

    assert row == (old.pk, Lease.objects.get(pk=old.pk).leased_at)
    assert stale(MINUTE).rows(now=now - 5 * MINUTE) == []
    assert len(stale(MINUTE).rows(now=now + 5 * MINUTE)) == 2
    assert stale(10 * MINUTE).rows(now=now) == []
    assert built == [MINUTE, 10 * MINUTE]


@pytest.mark.django_db
def test_instances_have_their_annotations(alice, bob, django_assert_num_queries):
    factories.sent_task(alice, bob)
    name = Parameter("name", CharField())
    queued = Counted.up_to(10, Task.objects.queued().filter(recipient__display=name))
    query = Compiled(Agent.objects.filter(display=name).annotate(queued=queued))

    with django_assert_num_queries(2):
        (alone,), (busy,) = query.rows(name="alice@local"), query.rows(name="bob@local")

    assert (alone, alone.queued, busy, busy.queued) == (alice.agent, 0, bob.agent, 1)


@pytest.mark.django_db
def test_a_query_of_no_table_has_one_row(leased):
    query = Compiled(
        query_of_figures(Counted(Lease.objects.stale(NOW, MINUTE).values("pk")), Counted(Lease.objects.live()))
    )

    assert query.rows(now=timezone.now()) == [(1, 2)]


@pytest.mark.django_db
@pytest.mark.parametrize("number", [1, 2, 3, 5])
def test_any_number_of_keys_selects_the_rows_of_these_keys(number):
    agents = [factories.row_of(factories.agent(f"agent{place}")) for place in range(6)]
    wanted = [agent.pk for agent in agents[:number]]

    size, values = compiled.many(wanted)
    found = Compiled(Agent.objects.filter(pk__in=compiled.keys(size))).rows(**values)

    assert {agent.pk for agent in found} == set(wanted)
    assert size in {1, 2, 4, 8}


@pytest.mark.django_db(transaction=True)
def test_threads_share_a_query(leased):
    query = Compiled(Lease.objects.stale(NOW, MINUTE).values_list("pk"))

    def rows(_):
        try:
            return query.rows(now=timezone.now())
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(rows, range(8))) == [[(leased[1].pk,)]] * 8
