from datetime import UTC, datetime, timedelta

import pytest

from a2a_hub_client import NewTask
from a2a_hub_client.refusals import (
    AgentConflictError,
    CapabilityMissingError,
    DuplicateRiskMismatchError,
    LeaseMismatchError,
    UnauthenticatedError,
    UnknownAgentError,
)
from tests.clients.python.contract.conftest import served

pytestmark = served


def test_a_client_learns_whose_key_it_has(bob, olga):
    me = bob.me()
    assert me.agent
    assert me.agent.is_called("bob")
    assert (me.person, me.role) == (None, None)

    me = olga.me()
    assert (me.agent, me.person, me.role) == (None, "olga", "admin")


def test_a_wrong_key_is_refused(world):
    with world.with_key("wrong") as stranger, pytest.raises(UnauthenticatedError):
        stranger.me()


def test_an_admin_registers_an_agent_that_works(world, alice, olga):
    made = olga.add_agent("dora@local")
    grant = olga.grant("dora", "a2a.respond.*", expires_at=datetime.now(UTC) + timedelta(hours=1))

    assert made.agent.display == "dora@local"
    assert (grant.subject, grant.action) == ("dora@local", "a2a.respond.*")
    assert "dora@local" in [agent.display for agent in olga.agents()]
    with pytest.raises(AgentConflictError):
        olga.add_agent("dora@local")
    with world.with_key(made.api_key) as dora:
        task = alice.send("dora", "a")
        assert [leased.task.id for leased in dora.receive().leases] == [task.id]


def test_a_revoked_grant_ends_at_once(alice, olga):
    alice.send("bob", "a")
    (grant,) = [grant for grant in olga.grants() if grant.subject.display == "alice@local"]
    assert (grant.action, grant.revoked_at) == ("a2a.send.*", None)

    olga.revoke_grant(grant.id)

    with pytest.raises(CapabilityMissingError):
        alice.send("bob", "b")


def test_a_paused_agent_leases_nothing(alice, bob, olga):
    alice.send("bob", "a")

    paused = olga.pause_agent("bob", reason="broken")
    assert (paused.agent.display, paused.reason) == ("bob@local", "broken")
    assert bob.receive(wait=0).leases == []
    assert olga.agent("bob").paused_reason == "broken"

    olga.resume_agent("bob")
    assert len(bob.receive().leases) == 1
    with pytest.raises(UnknownAgentError):
        olga.pause_agent("nobody", reason="broken")


def test_agents_administer_nothing(alice):
    with pytest.raises(CapabilityMissingError):
        alice.grant("alice", "a2a.respond.*")
    with pytest.raises(CapabilityMissingError):
        alice.pause_agent("bob", reason="a")


def test_an_operator_requeues_a_leased_task(alice, bob, olga):
    task = alice.send("bob", "a")
    (leased,) = bob.receive().leases

    with pytest.raises(DuplicateRiskMismatchError):
        olga.task(task.id).requeue("stuck", duplicate_risk="idempotent")
    outcome = olga.task(task.id).requeue("stuck", duplicate_risk="operator_accepted", lease_id=leased.lease.id)

    assert (outcome.task_id, outcome.action, outcome.state) == (task.id, "requeued", "queued")
    (again,) = bob.receive().leases
    assert again.lease.attempt == 2
    with pytest.raises(LeaseMismatchError):
        olga.task(task.id).requeue("stuck", duplicate_risk="operator_accepted", lease_id=leased.lease.id)


def test_an_operator_fails_a_leased_task(alice, bob, olga):
    task = alice.send("bob", "a")
    bob.receive()

    outcome = olga.task(task.id).fail("lost", reason="the machine is gone")

    assert outcome.result
    assert outcome.result.error_message == "lost"
    assert task.result().error_message == "lost"


def test_the_queue_has_the_tasks_that_are_not_resolved(alice, bob, olga):
    first, second = alice.send("bob", "1"), alice.send("bob", "2")
    bob.receive()

    assert {entry.task.id: entry.state for entry in olga.queue()} == {first.id: "in_flight", second.id: "queued"}
    assert [entry.task.id for entry in olga.queue(state="queued")] == [second.id]
    assert [task.id for task in olga.queued_tasks()] == [second.id]
    assert {entry.task.id for entry in olga.tasks()} == {first.id, second.id}
    assert {entry.task.id for entry in olga.status().tasks} == {first.id, second.id}


def test_a_list_of_several_pages_is_whole(alice):
    sent = alice.send_many(NewTask(to="bob", text=str(number)) for number in range(120))

    assert {entry.task.id for entry in alice.queue()} == {task.id for task in sent}


def test_an_agent_sees_its_own_tasks_alone(alice, hub_of):
    task = alice.send("bob", "1")

    assert [entry.task.id for entry in alice.queue()] == [task.id]
    assert list(hub_of("anna").queue()) == []


def test_a_key_is_added_and_revoked(world, bob, olga):
    added = bob.add_key()

    with world.with_key(added.api_key) as second:
        assert second.me() == bob.me()
        olga.revoke_key(added.public_id)
        with pytest.raises(UnauthenticatedError):
            second.me()


def test_the_journal_tells_what_happened(alice, olga):
    since = datetime.now(UTC) - timedelta(seconds=1)
    task = alice.send("bob", "1")

    events = [event for event in olga.journal(since=since) if event.task_id == task.id]

    assert "a2a_task_sent" in [event.kind for event in events]
    assert {event.actor for event in events} == {"alice@local"}
