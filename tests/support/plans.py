"""Repair plans for tests."""

import uuid

from mailbox.models import Lease, RepairPlan
from mailbox.repairs import plan_execution, plans
from tests.support import factories

REQUEUE, FORCE_ERROR = RepairPlan.Verb.REQUEUE, RepairPlan.Verb.FORCE_ERROR


def leased(alice, bob, *, safe=0, unsafe=0):
    """Return live leases, oldest first: ``safe`` leases of idempotent tasks, then ``unsafe`` leases of other tasks."""
    first = [factories.leased_task(alice, bob, idempotency=factories.idempotent()) for _ in range(safe)]
    return [*first, *(factories.leased_task(alice, bob) for _ in range(unsafe))]


def planned(caller, leases, verb=REQUEUE, **options):
    found = Lease.objects.named(lease.lease_id for lease in leases)
    return plans.make(caller, verb, found, **{"token": uuid.uuid4(), "max_attempts": 3, **options})


def carried_out(caller, plan, seconds=60.0, **options):
    """Apply a plan and work on it for up to ``seconds``; return the plan as stored then."""
    applied = plans.apply(caller, plan.pk, **{"reason": "pod lost", **options})
    plan_execution.work(applied, seconds=seconds)
    return RepairPlan.objects.get(pk=plan.pk)


def outcomes(plan):
    """Return the number of leases by outcome, without zeros."""
    return {name: count for name, count in plans.PlanTally.of(plan).outcomes.items() if count}
