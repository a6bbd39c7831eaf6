import uuid

import pytest

from mailbox.inspection import trees
from mailbox.life import leasing
from mailbox.repairs import repair
from mailbox.words.errors import UnknownTaskError
from tests.support import factories

pytestmark = pytest.mark.django_db

ROOT = uuid.UUID(int=7)


def uuids(root, limit=100):
    return [member.task.uuid for member in trees.members(root, limit=limit)]


def test_a_tree_without_its_root_is_read_whole(alice, bob):
    root = factories.sent_task(alice, bob)
    child = factories.sent_task(alice, bob, parent=root.uuid)
    grandchild = factories.sent_task(alice, bob, parent=child.uuid)
    factories.sent_task(alice, bob)
    orphan = factories.sent_task(alice, bob, parent=ROOT)

    assert uuids(root.uuid) == [root.uuid, child.uuid, grandchild.uuid]
    assert uuids(child.uuid) == [child.uuid, grandchild.uuid]
    assert uuids(ROOT) == [orphan.uuid]


def test_a_tree_without_tasks_is_unknown(db):
    with pytest.raises(UnknownTaskError):
        trees.members(ROOT, limit=10)


def test_tasks_that_are_each_others_parent_are_read_once(alice, bob):
    one, other = uuid.uuid4(), uuid.uuid4()
    factories.sent_task(alice, bob, id=one, parent=other)
    factories.sent_task(alice, bob, id=other, parent=one)
    itself = uuid.uuid4()
    factories.sent_task(alice, bob, id=itself, parent=itself)

    assert sorted(uuids(one)) == sorted([one, other])
    assert uuids(itself) == [itself]


def test_a_large_tree_is_read_from_its_root_up_to_the_limit(alice, bob):
    root = factories.sent_task(alice, bob)
    children = [factories.sent_task(alice, bob, parent=root.uuid) for _ in range(5)]
    factories.sent_task(alice, bob, parent=children[0].uuid)

    assert set(uuids(root.uuid, limit=6)) == {root.uuid, *(child.uuid for child in children)}


def test_members_carry_their_attempts_repairs_and_result(alice, bob, olga, django_assert_max_num_queries):
    root = factories.resolved_task(alice, bob).task
    lease = factories.leased_task(alice, bob, parent=root.uuid, intent_text="x" * 1000)
    repair.requeue(
        olga,
        lease.task.uuid,
        reason="pod killed",
        duplicate_risk=repair.DuplicateRisk.OPERATOR_ACCEPTED,
        lease_id=lease.lease_id,
    )
    leasing.lease_tasks(bob)

    with django_assert_max_num_queries(4):
        above, below = trees.members(root.uuid, limit=10)

    assert above.result is not None
    assert [one.attempt for one in below.leases] == [1, 2]
    requeue = below.repair_of(below.leases[0])
    assert requeue is not None
    assert requeue.actor == "user:olga"
    assert below.repair_of(below.leases[1]) is None
    assert below.opening == "x" * 200


def test_a_tree_of_many_members_is_read_whole(alice, bob, monkeypatch):
    monkeypatch.setattr(trees, "AT_ONCE", 3)
    root = factories.sent_task(alice, bob)
    children = [factories.sent_task(alice, bob, parent=root.uuid) for _ in range(7)]

    found = list(trees.every_member(root.uuid))

    assert [member.task.uuid for member in found] == [root.uuid, *(child.uuid for child in children)]
    assert found[0].task.intent_text == "summarise the report"
