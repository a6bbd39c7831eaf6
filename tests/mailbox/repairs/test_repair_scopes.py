from dataclasses import replace
from uuid import uuid4

import pytest

from mailbox.models import Lease, Task
from mailbox.repairs import repair
from mailbox.repairs.repair import DuplicateRisk
from mailbox.words.errors import CapabilityMissingError, CapabilityScopeMismatchError
from tests.support import factories

pytestmark = pytest.mark.django_db


def requeue(caller, task, **fields):
    risk = DuplicateRisk.OPERATOR_ACCEPTED
    return repair.requeue(caller, task.uuid, reason="worker lost", duplicate_risk=risk, **fields)


FIELDS = ["lease_id", "task_id", "peer_pubkey_b58", "duplicate_risk"]


def pins_of(lease):
    """Return what a requeue of this lease by the task's sender says of each field that a scope may pin."""
    return {
        "lease_id": str(lease.lease_id),
        "task_id": str(lease.task.uuid),
        "peer_pubkey_b58": lease.task.recipient.pubkey,
        "duplicate_risk": "operator_accepted",
    }


@pytest.mark.parametrize("pinned", [*([field] for field in FIELDS), FIELDS], ids="+".join)
def test_a_grant_admits_the_request_that_its_scope_pins(alice, bob, pinned):
    lease = factories.leased_task(alice, bob)
    pins = {field: pins_of(lease)[field] for field in pinned}
    factories.grant(alice, "a2a.repair.requeue", scope={"version": 1, **pins})

    requeue(alice, lease.task, lease_id=lease.lease_id)

    assert Task.objects.get().state == Task.State.QUEUED


def test_a_scope_may_spell_the_risk_with_a_hyphen(alice, bob):
    lease = factories.leased_task(alice, bob)
    factories.grant(alice, "a2a.repair.requeue", scope={"version": 1, "duplicate_risk": "operator-accepted"})

    requeue(alice, lease.task)

    assert Task.objects.get().state == Task.State.QUEUED


@pytest.mark.parametrize("field", FIELDS)
def test_a_repair_outside_the_pinned_scope_is_refused_and_journalled(alice, bob, field):
    lease = factories.leased_task(alice, bob)
    other = {
        "lease_id": str(uuid4()),
        "task_id": str(uuid4()),
        "peer_pubkey_b58": lease.task.sender.pubkey,
        "duplicate_risk": "idempotent",
    }
    factories.grant(alice, "a2a.repair.requeue", scope={"version": 1, **pins_of(lease), field: other[field]})

    with pytest.raises(CapabilityScopeMismatchError):
        requeue(alice, lease.task, lease_id=lease.lease_id)

    assert Lease.objects.get().ended_at is None
    assert factories.last_event().kind == "capability_scope_rejected"
    assert factories.last_event().fields["agent_id"] == f"a2a-repair:{lease.task.uuid}"


def test_a_repair_under_a_pinned_lease_must_name_that_lease(alice, bob):
    lease = factories.leased_task(alice, bob)
    factories.grant(alice, "a2a.repair.requeue", scope={"version": 1, "lease_id": str(lease.lease_id)})

    with pytest.raises(CapabilityScopeMismatchError):
        requeue(alice, lease.task)

    assert Lease.objects.get().ended_at is None


def test_a_repair_with_a_grant_that_ended_meanwhile_is_a_failed_check(alice, bob):
    lease = factories.leased_task(alice, bob)
    grant = factories.grant(alice, "a2a.repair.requeue", max_uses=1)
    before = replace(alice, grants=(grant,))
    type(grant).objects.update(uses=1)
    checks = len(factories.journal("capability_check"))

    with pytest.raises(CapabilityMissingError):
        requeue(before, lease.task)

    *_, check = factories.journal("capability_check")
    assert len(factories.journal("capability_check")) == checks + 1
    assert check.task_id == lease.task.uuid
    assert check.fields["passed"] is False
    assert factories.journal("a2a_repair_refused") == []
    assert Lease.objects.get().end is None
