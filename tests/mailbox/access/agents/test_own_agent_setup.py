import json
from uuid import uuid4

import pytest
from django.core import checks
from django.utils import timezone

from mailbox.access.agents import own_agent_setup, registration
from mailbox.access.callers import Caller, Role
from mailbox.access.credentials import keys, public_routes
from mailbox.access.credentials.keys import store_key
from mailbox.access.own_agents import ANONYMOUS, OPERATORS, SCHEDULER
from mailbox.background import jobs
from mailbox.inspection.health import checks as checks_module
from mailbox.inspection.health.checks import HealthStatus
from mailbox.models import Agent, ApiKey, SigningKey
from mailbox.upkeep import imports
from mailbox.words.envelopes import AgentRef, TaskEnvelope
from mailbox.words.errors import AgentConflictError, InvalidRequestError
from mailbox.words.kinds import Kind
from tests.support import factories

pytestmark = pytest.mark.django_db

NAMES = [OPERATORS, SCHEDULER, "Operators@hub", "operators@HUB", "someone@hub", "hub@Hub"]


@pytest.fixture
def squatter():
    """An agent that an earlier version let register under the hub's name."""
    agent = factories.AgentFactory.create(display=OPERATORS)
    store_key(timezone.now(), agent=agent)
    return agent


def all_warnings():
    return [found.msg for found in checks.run_checks(databases=["default"]) if found.id == "mailbox.W003"]


@pytest.mark.parametrize("display", NAMES)
def test_no_verb_registers_an_agent_at_the_host_of_the_hub(display):
    admin = factories.person("ada", Role.ADMIN)
    attempts = [
        lambda: registration.register_agent(admin, display),
        lambda: registration.ensure_agent(Caller.command_line(), display),
        lambda: registration.ensure_named(Caller.command_line(), display),
        lambda: imports.import_tasks(Caller.command_line(), display, []),
        lambda: imports.import_tasks(
            Caller.command_line(),
            "bob@local",
            [
                imports.Kept(
                    task=TaskEnvelope(id=uuid4(), recipient=AgentRef(display="bob@local"), intent_text="x"),
                    sender=display,
                )
            ],
        ),
    ]
    for attempt in attempts:
        with pytest.raises(InvalidRequestError, match='the host "hub" is reserved'):
            attempt()

    assert not Agent.objects.exists()


@pytest.mark.parametrize("path", ["/a2a/agents", "/api/agents"])
def test_no_route_registers_an_agent_at_the_host_of_the_hub(client, path):
    factories.person("ada", Role.ADMIN)
    key = keys.add_key(Caller.command_line(), username="ada").secret
    body = {"display": "Operators@hub"} if path == "/a2a/agents" else {"name": "Operators@hub"}

    response = client.post(
        path, json.dumps(body), content_type="application/json", headers={"Authorization": f"Bearer {key}"}
    )

    assert response.status_code == 400, response.text
    assert not Agent.objects.exists()


def test_the_hub_makes_its_own_agents_once():
    assert own_agent_setup.make_all() == own_agent_setup.make_all() == []
    assert set(Agent.objects.values_list("display", flat=True)) == {ANONYMOUS, OPERATORS, SCHEDULER}


def test_an_agent_of_the_hub_gets_no_credential():
    agent = own_agent_setup.hub_agent(OPERATORS)
    with pytest.raises(InvalidRequestError, match="gets no credential"):
        keys.add_key(Caller.command_line(), agent=agent)
    with pytest.raises(InvalidRequestError, match="gets no credential"):
        public_routes.add(Caller.command_line(), agent, rate_limit=1)


def test_a_squatted_name_is_refused_and_reported(squatter):
    with pytest.raises(AgentConflictError, match=r"has an API key.*agents reclaim operators@hub"):
        own_agent_setup.hub_agent(OPERATORS)

    (message,) = all_warnings()
    assert "agents reclaim operators@hub" in message
    check = checks_module.hub_agents(timezone.now())
    assert (check.word, check.saw) == (HealthStatus.FAILING, message)
    assert own_agent_setup.make_all() == [message]


def test_an_agent_of_the_hub_that_signs_requests_is_refused_until_it_is_reclaimed():
    agent = own_agent_setup.hub_agent(OPERATORS)
    SigningKey.objects.create(agent=agent, pubkey=agent.pubkey, proven_at=timezone.now())

    with pytest.raises(AgentConflictError, match="has a signing key"):
        own_agent_setup.hub_agent(OPERATORS)
    own_agent_setup.reclaim(Caller.command_line(), OPERATORS)

    assert own_agent_setup.hub_agent(OPERATORS) == agent
    assert not SigningKey.objects.live().exists()


def test_a_name_in_other_case_is_refused_and_reported():
    factories.AgentFactory.create(display="Operators@hub")

    with pytest.raises(AgentConflictError, match='"Operators@hub" stands in the way'):
        own_agent_setup.hub_agent(OPERATORS)
    assert len(all_warnings()) == 1


def test_a_squatted_name_keeps_no_hub_from_its_timetable():
    factories.AgentFactory.create(display="Scheduler@hub")
    jobs.register()


@pytest.mark.parametrize("display", ["operators@hub", "Operators@HUB"])
def test_a_reclaimed_agent_is_the_hub_s_own(display):
    taken = factories.AgentFactory.create(display=display)
    key = store_key(timezone.now(), agent=taken)
    factories.GrantFactory.create(subject=taken)

    reclaimed = own_agent_setup.reclaim(Caller.command_line(), display)

    assert own_agent_setup.hub_agent(OPERATORS) == reclaimed == taken
    assert (reclaimed.display, reclaimed.local) == (OPERATORS, "operators")
    assert reclaimed.pubkey != taken.pubkey
    assert ApiKey.objects.get(public_id=key.row.public_id).revoked_at is not None
    assert not reclaimed.grants.filter(revoked_at=None).exists()
    (row,) = factories.journal(Kind.AGENT_RECLAIMED)
    assert row.fields == {
        "display": OPERATORS,
        "was": display,
        "pubkey": reclaimed.pubkey,
        "old_pubkey": taken.pubkey,
    }
    assert own_agent_setup.make_all() == []


def test_only_an_agent_of_the_hub_is_reclaimed(alice):
    with pytest.raises(InvalidRequestError, match="operators@hub, scheduler@hub"):
        own_agent_setup.reclaim(Caller.command_line(), "alice@local")
