import pytest

from mailbox.access.agents import registration
from mailbox.access.callers import Caller, Role
from mailbox.life import leasing
from mailbox.models import Agent
from mailbox.words.errors import AgentConflictError, CapabilityMissingError, InvalidRequestError, Remedy
from tests.support import factories
from tests.support.api import Api

pytestmark = pytest.mark.django_db


def test_a_paused_agent_leases_nothing_until_it_is_resumed(alice, bob, olga):
    task = factories.sent_task(alice, bob)
    registration.pause_agent(olga, bob.agent, reason="  deploying ")
    while_paused = leasing.lease_tasks(bob)

    registration.resume_agent(olga, bob.agent)

    assert while_paused == []
    assert [lease.task for lease in leasing.lease_tasks(bob)] == [task]


def test_a_paused_agent_keeps_the_lease_it_has(alice, bob, olga):
    lease = factories.leased_task(alice, bob)

    registration.pause_agent(olga, bob.agent, reason="deploying")

    assert leasing.heartbeat(bob, lease.task.uuid).lease_id == lease.lease_id


def test_pausing_and_resuming_are_journalled_with_their_reasons(bob, olga):
    registration.pause_agent(olga, bob.agent, reason="deploying")
    registration.resume_agent(olga, bob.agent, reason="deployed")

    (paused,) = factories.journal("agent_paused")
    (resumed,) = factories.journal("agent_resumed")
    assert (paused.actor, paused.fields) == ("user:olga", {"display": "bob@local", "reason": "deploying"})
    assert resumed.fields == {"display": "bob@local", "reason": "deployed", "was_paused_for": "deploying"}
    assert [row.fields["required_actions"] for row in factories.journal("capability_check")] == [
        ["a2a.agents.pause"],
        ["a2a.agents.pause"],
    ]


def test_a_second_pause_renews_the_reason_and_keeps_the_time(bob, olga):
    first = registration.pause_agent(olga, bob.agent, reason="deploying")
    same = registration.pause_agent(olga, bob.agent, reason="deploying")

    again = registration.pause_agent(olga, bob.agent, reason="still deploying")

    assert same.paused_at == again.paused_at == first.paused_at
    assert Agent.objects.get(pk=bob.agent.pk).paused_reason == "still deploying"
    assert len(factories.journal("agent_paused")) == 2


def test_a_pause_that_renews_none_is_refused_for_a_paused_agent(bob, olga):
    registration.pause_agent(olga, bob.agent, reason="deploying", renews=False)

    with pytest.raises(AgentConflictError):
        registration.pause_agent(olga, bob.agent, reason="still deploying", renews=False)

    assert Agent.objects.get(pk=bob.agent.pk).paused_reason == "deploying"


def test_a_resumption_of_an_earlier_pause_is_refused(bob, olga):
    first = registration.pause_agent(olga, bob.agent, reason="deploying").paused_at
    registration.resume_agent(olga, bob.agent)
    second = registration.pause_agent(olga, bob.agent, reason="deploying again").paused_at

    with pytest.raises(AgentConflictError):
        registration.resume_agent(olga, bob.agent, since=first)

    assert registration.resume_agent(olga, bob.agent, since=second).paused_at is None


def test_resuming_an_agent_that_is_not_paused_changes_nothing(bob, olga):
    registration.resume_agent(olga, bob.agent)

    assert factories.journal("agent_resumed") == []


@pytest.mark.parametrize("reason", ["", "   ", "x" * 501, "nul\x00"])
def test_a_pause_needs_a_reason(bob, olga, reason):
    with pytest.raises(InvalidRequestError):
        registration.pause_agent(olga, bob.agent, reason=reason)

    assert Agent.objects.get(pk=bob.agent.pk).paused_at is None


def test_a_refused_pause_changes_nothing_and_is_journalled(alice, bob):
    with pytest.raises(CapabilityMissingError) as refusal:
        registration.pause_agent(alice, bob.agent, reason="mine")

    assert refusal.value.lack
    assert refusal.value.lack.remedy == Remedy.GROUP
    assert Agent.objects.get(pk=bob.agent.pk).paused_at is None
    assert factories.last_event().fields["missing_actions"] == ["a2a.agents.pause"]


def test_admins_and_the_command_line_can_pause_and_viewers_cannot(bob):
    with pytest.raises(CapabilityMissingError):
        registration.pause_agent(factories.person("vera", Role.VIEWER), bob.agent, reason="r")

    registration.pause_agent(factories.person("ada", Role.ADMIN), bob.agent, reason="r")
    registration.resume_agent(Caller.command_line(), bob.agent)

    assert Agent.objects.get(pk=bob.agent.pk).paused_at is None


@pytest.mark.parametrize("name", ["bob@local", "bob", "pubkey"])
def test_the_routes_name_the_agent_in_any_form(bob, olga, name):
    name = bob.agent.pubkey if name == "pubkey" else name

    paused = Api(olga).post(f"/a2a/agents/{name}/pause", {"reason": "deploying"})
    resumed = Api(olga).post(f"/a2a/agents/{name}/resume")

    agent = {"display": "bob@local", "pubkey": bob.agent.pubkey}
    assert (paused.status_code, resumed.status_code) == (200, 200)
    assert list(paused.json()) == ["kind", "agent", "paused_at_ms", "reason"]
    assert paused.json()["agent"] == agent
    assert resumed.json() == {"kind": "a2a_agent_resumed", "agent": agent}


@pytest.mark.parametrize("name", ["nobody", "no@body", "%00", "a%20b", "@", "x" * 300, "1" * 44])
def test_an_unknown_agent_cannot_be_paused(olga, name):
    refused = Api(olga).post(f"/a2a/agents/{name}/pause", {"reason": "r"})

    assert (refused.status_code, refused.json()["code"]) == (404, "unknown_agent")


@pytest.mark.parametrize(
    ("body", "status"), [({}, 400), ({"reason": ""}, 400), ({"reason": 1}, 400), ({"reason": "r", "x": 1}, 400)]
)
def test_a_malformed_pause_is_refused(bob, olga, body, status):
    assert Api(olga).post("/a2a/agents/bob/pause", body).status_code == status


def test_an_agent_cannot_pause_another_agent_over_http(alice, bob):
    refused = Api(alice).post("/a2a/agents/bob/pause", {"reason": "r"})

    assert (refused.status_code, refused.json()["code"]) == (403, "capability_missing")
