"""The list of trees: each tree once, the one with the newest child first, read in bounded steps."""

import uuid
from datetime import timedelta

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from mailbox.inspection import trees
from mailbox.life import leasing, results
from mailbox.models import Task
from mailbox.words.envelopes import ResultStatus
from tests.support import factories

pytestmark = pytest.mark.django_db

STALE = timedelta(minutes=5)


def listed(*, limit=20, before=None, since=None, matches=lambda tree: True):
    return trees.newest(limit=limit, before=before, since=since, matches=matches, stale=(timezone.now(), STALE))


def walk(limit):
    """Return the roots of all pages."""
    found, before = [], None
    while True:
        page = listed(limit=limit, before=before)
        found += [tree.root for tree in page.items]
        before = page.next_key
        if before is None:
            return found


@pytest.fixture
def child(alice, bob):
    def sent(parent, **fields):
        return factories.sent_task(alice, bob, parent=getattr(parent, "uuid", parent), **fields)

    return sent


@pytest.fixture
def root(alice, bob):
    return lambda **fields: factories.sent_task(alice, bob, **fields)


def test_trees_stand_by_their_newest_child_and_tasks_alone_are_no_trees(root, child):
    one, two, _ = root(), root(), root()
    below = child(one)
    child(two)
    child(below)

    page = listed()

    assert [tree.root for tree in page.items] == [one.uuid, two.uuid]
    assert [len(tree.tasks) for tree in page.items] == [3, 2]
    assert page.items[0].task == one
    assert page.next_key is None


def test_a_tree_has_the_states_of_its_tasks(alice, bob, root, child):
    top = root()
    failed = child(top)
    lease = leasing.lease_task(bob, failed.uuid)
    no = {"status": ResultStatus.ERROR, "error_message": "no", "content": []}
    results.post_result(bob, factories.result_envelope(failed, lease_id=lease.lease_id, **no))
    with time_machine.travel(timezone.now() - timedelta(minutes=9), tick=False):
        late = child(top)
        leasing.lease_task(bob, late.uuid)

    (tree,) = listed().items

    assert {leaf.uuid: leaf.state for leaf in tree.tasks} == {
        top.uuid: "queued",
        failed.uuid: "error",
        late.uuid: "stale",
    }
    assert tree.is_open


@pytest.mark.parametrize("limit", [1, 2, 3, 7])
def test_pages_list_every_tree_once(root, child, limit):
    tops = [root() for _ in range(5)]
    for number in range(20):
        child(tops[number * 7 % 5])

    assert sorted(walk(limit)) == sorted(top.uuid for top in tops)


def test_a_page_with_few_matches_walks_once(root, child):
    tops = [root() for _ in range(5)]
    for top in tops:
        child(top)

    with CaptureQueriesContext(connection) as made:
        page = listed(limit=2, matches=lambda tree: tree.root == tops[1].uuid)

    assert [tree.root for tree in page.items] == [tops[1].uuid]
    assert sum("RECURSIVE" in query["sql"] for query in made) == 1


@pytest.mark.parametrize("walked", [1, 3])
def test_a_walk_of_few_children_leads_on(root, child, monkeypatch, walked):
    monkeypatch.setattr(trees, "WALKED", walked)
    tops = [root() for _ in range(3)]
    for top in tops:
        for _ in range(4):
            child(top)

    assert walk(2) == [top.uuid for top in reversed(tops)]


def test_a_tree_without_its_root_is_listed_by_its_id(child):
    absent = uuid.uuid4()
    child(absent)

    (tree,) = listed().items

    assert (tree.root, tree.task, len(tree.tasks)) == (absent, None, 1)


def test_tasks_that_name_each_other_end(alice, bob):
    one, two = uuid.uuid4(), uuid.uuid4()
    factories.sent_task(alice, bob, id=one, parent=two)
    factories.sent_task(alice, bob, id=two, parent=one)

    assert len(listed().items) <= 2


def test_a_large_tree_is_cut(root, child, monkeypatch):
    monkeypatch.setattr(trees, "MOST_TASKS", 3)
    top = root()
    for _ in range(4):
        child(top)

    (tree,) = listed().items

    assert (len(tree.tasks), tree.is_cut) == (4, True)


def test_a_deep_tree_is_cut_below_the_limit_and_a_whole_one_is_not(root, child, monkeypatch):
    monkeypatch.setattr(trees, "MOST_TASKS", 4)
    top = root()
    child(child(child(child(top))))

    assert [tree.is_cut for tree in listed().items] == [True]
    monkeypatch.setattr(trees, "MOST_TASKS", 5)
    assert [tree.is_cut for tree in listed().items] == [False]


def test_filters_keep_the_trees_that_match(root, child):
    with time_machine.travel(timezone.now() - timedelta(hours=2), tick=False):
        old = root()
        child(old)
    new = root()
    child(new)

    assert [tree.root for tree in listed(since=timezone.now() - timedelta(hours=1)).items] == [new.uuid]
    assert [tree.root for tree in listed(matches=lambda tree: tree.root == old.uuid).items] == [old.uuid]


def test_the_number_of_queries_depends_on_levels_alone(root, child, django_assert_num_queries):
    for _ in range(3):
        child(child(root()))
    with django_assert_num_queries(6):
        listed()
    for _ in range(15):
        child(child(root()))

    with django_assert_num_queries(6):
        assert len(listed().items) == 18


def test_the_root_of_each_task(root, child):
    top = root()
    below = child(top)
    absent = uuid.uuid4()
    orphan = child(absent)

    assert trees.of_each({top.uuid, below.uuid, orphan.uuid, uuid.uuid4()}) == {
        top.uuid: top.uuid,
        below.uuid: top.uuid,
        orphan.uuid: absent,
    }
    assert trees.of_each(set()) == {}
    assert Task.objects.count() == 3
