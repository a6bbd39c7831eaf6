"""A task that may not be leased cannot be accepted, completed or failed from an inbox.

The inbox's context leaves the task out.
"""

from datetime import timedelta
from uuid import uuid4

import pytest
import time_machine
from django.utils import timezone

from mailbox.access.agents import registration
from mailbox.dialects.marianne.inbox import A2AInbox
from mailbox.dialects.marianne.values import A2ATaskStatus
from mailbox.models import Lease, Task
from mailbox.words.kinds import Kind
from mailbox.words.times import epoch_ms
from tests.support import factories
from tests.support.api import Api, error_of

pytestmark = pytest.mark.django_db
INBOX = "/a2a/inboxes/bob"
STEPS = [("accept", {}), ("complete", {}), ("fail", {"reason": "x"})]


@pytest.fixture
def owner(bob):
    return Api(bob)


@pytest.fixture
def inbox(bob):
    return A2AInbox("j", "bob")


@pytest.fixture
def overdue(alice, bob):
    with time_machine.travel(timezone.now() - timedelta(hours=1), tick=False):
        return factories.sent_task(alice, bob, deadline_ms=epoch_ms(timezone.now()) + 1000)


@pytest.fixture
def waiting(alice, bob):
    factories.sent_task(alice, bob, idempotency=factories.idempotent("same"))
    return factories.sent_task(alice, bob, idempotency=factories.idempotent("same"))


@pytest.fixture
def paused(alice, bob, olga):
    task = factories.sent_task(alice, bob)
    registration.pause_agent(olga, bob.agent, reason="deploying")
    return task


def steps_in_process(inbox, task):
    task_id = str(task.uuid)
    return [inbox.mark_accepted(task_id), inbox.complete_task(task_id), inbox.fail_task(task_id, "x")]


@pytest.mark.parametrize(("step", "body"), STEPS)
def test_a_task_past_its_deadline_expires_instead(owner, overdue, step, body):
    response = owner.post(f"{INBOX}/tasks/{overdue.uuid}/{step}", body)

    assert error_of(response) == (409, "already_resolved")
    assert "already resolved as expired" in response.json()["message"]
    assert factories.life_of(overdue) == [Kind.TASK_SENT, Kind.TASK_EXPIRED]


@pytest.mark.parametrize(("step", "body"), STEPS)
@pytest.mark.parametrize(
    ("state", "why"),
    [("waiting", "another task that does the same work"), ("paused", "bob@local is paused: deploying")],
)
def test_a_task_that_must_wait_is_refused_with_the_reason(owner, request, state, why, step, body):
    task = request.getfixturevalue(state)

    response = owner.post(f"{INBOX}/tasks/{task.uuid}/{step}", body)

    assert error_of(response) == (409, "not_in_flight")
    assert why in response.json()["message"]
    assert "pending" not in response.json()["message"]
    assert not Lease.objects.exists()


@pytest.mark.parametrize("state", ["overdue", "waiting", "paused"])
def test_a_task_that_cannot_be_taken_is_false_in_process(inbox, request, state):
    task = request.getfixturevalue(state)

    assert steps_in_process(inbox, task) == [False, False, False]
    assert not Lease.objects.exists()


@pytest.mark.parametrize("state", ["overdue", "waiting", "paused"])
def test_a_task_that_cannot_be_accepted_is_not_in_the_context(inbox, owner, request, state):
    task = request.getfixturevalue(state)

    assert str(task.uuid) not in inbox.render_pending_context()
    assert str(task.uuid) not in owner.get(f"{INBOX}/context").content.decode()


@pytest.mark.parametrize(("state", "is_pending"), [("overdue", False), ("waiting", True), ("paused", True)])
def test_the_pending_tasks_are_those_whose_own_status_is_pending(inbox, request, state, is_pending):
    task_id = str(request.getfixturevalue(state).uuid)

    pending, count, task = inbox.get_pending_tasks(), inbox.pending_count, inbox.get_task(task_id)

    assert (task.status is A2ATaskStatus.PENDING) is is_pending
    assert [one for one in pending if one.task_id == task_id] == [task] * is_pending
    assert count == len(pending)


def test_a_refused_result_is_journalled(owner, waiting):
    owner.post(f"{INBOX}/tasks/{waiting.uuid}/complete", {})

    (rejected,) = factories.journal(Kind.RESULT_REJECTED)
    assert (rejected.task_id, rejected.fields) == (waiting.uuid, {"reason": "not_in_flight"})


def test_accepting_can_be_repeated_under_an_attempt_id_and_leases_once(owner, alice, bob):
    first, second = factories.sent_task(alice, bob), factories.sent_task(alice, bob)
    attempt = {"attempt_id": str(uuid4())}

    once = owner.post(f"{INBOX}/tasks/{first.uuid}/accept", attempt)
    again = owner.post(f"{INBOX}/tasks/{first.uuid}/accept", attempt)
    others = [owner.post(f"{INBOX}/tasks/{first.uuid}/accept", body) for body in ({}, {"attempt_id": str(uuid4())})]
    for_another = owner.post(f"{INBOX}/tasks/{second.uuid}/accept", attempt)

    assert (once.status_code, again.status_code, again.json()) == (200, 200, once.json())
    assert [error_of(other) for other in others] == [(409, "not_in_flight")] * 2
    assert error_of(for_another) == (409, "lease_mismatch")
    assert Lease.objects.get().attempt == 1


def test_a_delegation_can_be_repeated_under_a_delegation_id(alice, bob):
    factories.grant(bob, "a2a.send.alice@local")
    owner, body = Api(bob), {"text": "@delegate alice: one\n@delegate alice: one", "delegation_id": str(uuid4())}

    once = owner.post(f"{INBOX}/delegate", body).json()
    again = owner.post(f"{INBOX}/delegate", body).json()
    by_alice = Api(alice).post("/a2a/inboxes/alice/delegate", {**body, "text": "@delegate bob: two"}).json()

    assert again == once
    assert by_alice["delegated"][0]["error"] is None
    assert Task.objects.count() == 3
