"""A page ends before the row that would make it larger than the budget."""

import pytest

from mailbox.database import paging
from mailbox.inspection import lists
from tests.support import factories
from tests.support.api import Api

pytestmark = pytest.mark.django_db


def test_a_row_beyond_the_budget_is_answered_alone(alice):
    for _ in range(2):
        factories.sent_task(alice, alice, intent_text="x" * (paging.BUDGET + 1))

    first = lists.recent_tasks(alice, limit=10)
    second = lists.recent_tasks(alice, limit=10, cursor=first.next_cursor)

    assert (len(first.items), len(second.items), second.next_cursor) == (1, 1, None)
    assert first.items != second.items


def test_the_budget_counts_bytes_as_they_are_answered(alice):
    for text in ("\u20ac" * 1_000_000, "\x01" * 500_000):
        factories.sent_task(alice, alice, intent_text=text)

    answer = Api(alice).get("/a2a/tasks/recent", limit=10)

    assert len(answer.json()["tasks"]) == 1


def test_a_page_of_small_rows_has_as_many_as_its_limit(alice):
    for _ in range(2 * paging.AT_ONCE + 1):
        factories.sent_task(alice, alice)

    assert len(lists.recent_tasks(alice, limit=1000).items) == 2 * paging.AT_ONCE + 1
    assert len(lists.recent_tasks(alice, limit=paging.AT_ONCE).items) == paging.AT_ONCE
