"""A stranger learns nothing by a grant that is pinned elsewhere, and leaves the same row in the journal."""

from uuid import uuid4

import pytest

from tests.mailbox.dialects.conformance.foreign_tasks import in_each_state, learns_nothing
from tests.support import factories
from tests.support.api import Api
from tests.support.doors import REQUEUE, TASK, HubDoor, Request

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


@pytest.mark.parametrize("scope", ["peer_pubkey_b58", "lease_id"])
def test_a_pinned_grant_reveals_no_foreign_task(alice, bob, scope):
    curious = factories.agent("eve")
    pin = factories.row_of(alice).pubkey if scope == "peer_pubkey_b58" else str(uuid4())
    factories.grant(curious, "a2a.repair.requeue", scope={"version": 1, scope: pin})
    repair = Request("POST", "/a2a/repair", {"task_id": TASK, "command": REQUEUE, "reason": "r"})

    assert learns_nothing(HubDoor(curious), repair, in_each_state(alice, bob))


def test_foreign_and_absent_tasks_have_the_same_row_in_the_journal(alice, bob, mallory):
    stranger = Api(mallory)
    for task_id in (uuid4(), factories.sent_task(alice, bob).uuid):
        stranger.post("/a2a/results", {"task_id": str(task_id), "status": "ok"})

    first, second = factories.journal("a2a_result_rejected")
    assert (first.fields, first.actor, first.seq) == (second.fields, second.actor, second.seq)
