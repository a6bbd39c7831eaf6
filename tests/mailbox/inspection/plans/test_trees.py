"""The list of trees walks an index, and finds the tasks below by another."""

from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from mailbox.inspection import trees
from mailbox.models import Task
from tests.support.queries import assert_uses, assert_walks

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("before", [None, 1_000])
def test_the_list_of_trees_walks_the_newest_children(at, before):
    with CaptureQueriesContext(connection) as queries:
        trees.newest(limit=20, before=before, since=None, matches=bool, stale=(at.now, at.stale_after))

    assert_walks(trees.children(before, None)[: trees.WALKED], "task_newest_children")
    assert len(queries) <= 4


def test_the_tasks_below_listed_trees_are_found_by_index(at):
    below = Task.objects.filter(parent__in=[uuid4() for _ in range(20)]).order_by("-pk")

    assert_uses(below[: trees.MOST_TASKS], "children", "mailbox_task")
