"""Requests for repairs in bulk, as the dashboard's pages send them."""

import uuid

from mailbox.models import RepairPlan


def plan(browser, leases=(), *, verb="requeue", **fields):
    """Request a repair plan as the list of leases does; return the response."""
    ticked = [str(lease.lease_id) for lease in leases]
    return browser.post(
        "/ops/repairs/", {"verb": verb, "form_token": str(uuid.uuid4()), "lease": ticked, **fields}, follow=True
    )


def the_plan():
    return RepairPlan.objects.get()


def apply(browser, **fields):
    filled = {"form_token": str(uuid.uuid4()), "reason": "pod lost, INC-4412", **fields}
    return browser.post(f"/ops/repairs/{the_plan().pk}/", filled, follow=True)
