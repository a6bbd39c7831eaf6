from datetime import timedelta

import pytest
from django.utils import timezone

from mailbox.inspection.statistics import standing
from mailbox.inspection.statistics.backlogs import Limits
from mailbox.models import Lease, ReplayEntry, Task
from tests.support import factories

pytestmark = pytest.mark.django_db


def test_attention_takes_one_query_and_stops_counting_at_its_limit(alice, bob, django_assert_num_queries):
    for _ in range(3):
        factories.leased_task(alice, bob)

    with django_assert_num_queries(1):
        found = standing.attention(timezone.now(), stale_after=timedelta(0), most=1)

    assert found == (2, 0, 0, 0)


def test_the_standing_takes_one_query_and_counts_leases_by_age(alice, bob, django_assert_num_queries):
    now = timezone.now()
    for age in (1, 5, 5):
        lease = factories.leased_task(alice, bob)
        Lease.objects.filter(pk=lease.pk).update(leased_at=now - timedelta(minutes=age))
    factories.sent_task(alice, bob)
    bands = [(timedelta(0), timedelta(minutes=2)), (timedelta(minutes=2), None)]

    with django_assert_num_queries(1):
        found = standing.read(now, bands=bands, stale_after=timedelta(minutes=2), limits=Limits(now, now, now), most=10)

    assert (found.ages, found.queued, found.pending, found.scan) == ((1, 2), 1, 0, None)


def test_savings_are_zero_without_cached_results():
    assert standing.savings(ReplayEntry.objects.none(), Task.objects.none(), most=10) == (0, 0, 0)
