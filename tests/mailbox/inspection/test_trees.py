from uuid import uuid4

import pytest

from mailbox.inspection import trees
from mailbox.life import results
from mailbox.models import Task
from mailbox.words.errors import UnknownTaskError
from tests.support import factories

pytestmark = pytest.mark.django_db


def shape(nodes):
    return [(node.depth, node.task) for node in nodes]


def test_a_tree_is_listed_depth_first_with_the_oldest_child_first(alice, bob):
    root = factories.sent_task(alice, bob)
    first = factories.sent_task(alice, bob, parent=root.uuid)
    second = factories.sent_task(alice, bob, parent=root.uuid)
    grandchild = factories.sent_task(alice, bob, parent=first.uuid)
    factories.sent_task(alice, bob)

    assert shape(trees.tree(alice, root.uuid).items) == [(0, root), (1, first), (2, grandchild), (1, second)]
    assert shape(trees.tree(alice, first.uuid).items) == [(0, first), (1, grandchild)]


def test_a_tree_carries_states_attempts_and_results(alice, bob):
    root = factories.sent_task(alice, bob)
    result = results.post_result(bob, factories.result_envelope(factories.sent_task(alice, bob, parent=root.uuid)))

    above, below = trees.tree(alice, root.uuid).items

    assert (above.task.state, above.result) == (Task.State.QUEUED, None)
    assert (below.task.state, below.result) == (Task.State.RESOLVED, result)


def test_a_root_need_not_exist(alice, bob):
    plan = uuid4()
    children = [factories.sent_task(alice, bob, parent=plan) for _ in range(2)]

    assert shape(trees.tree(alice, plan).items) == [(1, child) for child in children]


def test_a_parent_may_be_sent_after_its_child(alice, bob):
    parent = uuid4()
    child = factories.sent_task(alice, bob, parent=parent)
    root = factories.sent_task(alice, bob, id=parent)

    assert shape(trees.tree(alice, parent).items) == [(0, root), (1, child)]


def test_a_task_may_name_itself_or_its_child_as_parent(alice, bob):
    one, other = uuid4(), uuid4()
    first = factories.sent_task(alice, bob, id=one, parent=other)
    second = factories.sent_task(alice, bob, id=other, parent=one)
    own = uuid4()
    alone = factories.sent_task(alice, bob, id=own, parent=own)

    assert shape(trees.tree(alice, one).items) == [(0, first), (1, second)]
    assert shape(trees.tree(alice, own).items) == [(0, alone)]


def test_a_tree_shows_only_the_tasks_of_its_caller(alice, bob, mallory, olga):
    root = factories.sent_task(alice, bob)
    shared = factories.sent_task(alice, bob, parent=root.uuid)
    hers = factories.sent_task(alice, mallory, parent=root.uuid)
    hidden = factories.sent_task(alice, bob, parent=hers.uuid)

    assert shape(trees.tree(mallory, root.uuid).items) == [(1, hers)]
    assert shape(trees.tree(bob, root.uuid).items) == [(0, root), (1, shared)]
    assert shape(trees.tree(olga, root.uuid).items) == [(0, root), (1, shared), (1, hers), (2, hidden)]


def test_a_tree_is_unknown_to_strangers(alice, bob, mallory):
    root = factories.sent_task(alice, bob)
    factories.sent_task(alice, bob, parent=root.uuid)

    for root_id in (root.uuid, uuid4()):
        with pytest.raises(UnknownTaskError):
            trees.tree(mallory, root_id)


def test_a_tree_stops_at_its_limit(alice, bob, monkeypatch):
    monkeypatch.setattr(trees, "TREE_LIMIT", 3)
    root = factories.sent_task(alice, bob)
    children = [factories.sent_task(alice, bob, parent=root.uuid) for _ in range(5)]

    assert shape(trees.tree(alice, root.uuid).items) == [(0, root), (1, children[0]), (1, children[1])]


def test_a_tree_takes_one_query_a_level(alice, bob, django_assert_max_num_queries):
    root = parent = factories.sent_task(alice, bob)
    for _ in range(3):
        parent = [factories.sent_task(alice, bob, parent=parent.uuid) for _ in range(4)][-1]

    with django_assert_max_num_queries(1 + 4 + 2):
        assert len(trees.tree(alice, root.uuid).items) == 13
