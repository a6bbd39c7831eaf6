from __future__ import annotations

from datetime import timedelta

import pytest

from tests.support import factories

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("limit", "told"), [(timedelta(seconds=1.5), 1500), (None, None)])
def test_a_lease_is_shown_with_its_work_timeout_by_every_route(client, alice, bob, limit, told):
    factories.sent_task(alice, bob, work_timeout=limit)
    bobs = {"headers": {"X-API-Key": factories.key_of(bob)}, "content_type": "application/json"}

    leased = client.post("/a2a/tasks/next", {}, **bobs).json()
    beaten = client.post(f"/a2a/tasks/{leased['task']['id']}/heartbeat", {}, **bobs).json()
    (held,) = client.get("/a2a/leases", headers=bobs["headers"]).json()["leases"]

    assert [one["work_timeout_ms"] for one in (leased["lease"], beaten["lease"], held)] == [told] * 3
