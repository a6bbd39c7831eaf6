from datetime import timedelta

import pytest
from django.utils import timezone

from mailbox.access.agents import grants, own_agent_setup, registration
from mailbox.access.agents.grants import anonymous_caller, close_to_anyone, is_open, open_to_anyone
from mailbox.access.callers import Caller, Role
from mailbox.access.credentials.keys import store_key
from mailbox.access.own_agents import ANONYMOUS, OPERATORS
from mailbox.life import results, sending
from mailbox.models import Agent, CapabilityGrant
from mailbox.words.errors import AgentConflictError, CapabilityMissingError, InvalidRequestError
from tests.support import factories
from tests.support.chance import MOMENT

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada():
    return factories.person("ada", Role.ADMIN)


def actions_of(agent):
    return set(CapabilityGrant.objects.live(timezone.now()).filter(subject=agent).values_list("action", flat=True))


def caller_without_key(agent):
    return anonymous_caller(agent, request_id="r", address="192.0.2.7")


def test_an_open_agent_is_sent_to_and_answers(ada):
    bob = factories.agent("bob")
    agent = factories.row_of(bob)
    open_to_anyone(ada, agent)
    caller = caller_without_key(agent)

    task = sending.send_task(caller, factories.task_envelope(bob))
    answered = results.post_result(factories.caller_of(agent), factories.result_envelope(task))

    assert answered.task == task
    assert (task.sender.display, caller.name, caller.address) == (ANONYMOUS, ANONYMOUS, "192.0.2.7")
    assert actions_of(caller.agent) == {"a2a.send.bob@local"}
    assert actions_of(agent) == {f"a2a.respond.{ANONYMOUS}"}


def test_opening_and_closing_is_journalled(ada, bob):
    open_to_anyone(ada, bob.agent, reason="a demo")
    close_to_anyone(ada, bob.agent, reason="it is over")
    close_to_anyone(ada, bob.agent)

    told = [(row.kind, row.fields) for kind in ("agent_opened", "agent_closed") for row in factories.journal(kind)]
    assert told == [
        ("agent_opened", {"display": "bob@local", "reason": "a demo"}),
        ("agent_closed", {"display": "bob@local", "reason": "it is over"}),
    ]
    kinds = ("capability_check", "capability_granted", "capability_revoked")
    rows = {kind: [row.fields for row in factories.journal(kind)] for kind in kinds}
    assert {row["agent_id"] for row in rows["capability_check"]} == {"a2a-open:bob@local"}
    for kind in ("capability_granted", "capability_revoked"):
        assert {(row["subject_display"], row["action"]) for row in rows[kind]} == {
            ("bob@local", f"a2a.respond.{ANONYMOUS}"),
            (ANONYMOUS, "a2a.send.bob@local"),
        }


def test_a_second_opening_grants_nothing_more(ada, bob):
    open_to_anyone(ada, bob.agent)
    open_to_anyone(ada, bob.agent)

    assert CapabilityGrant.objects.filter(action="a2a.send.bob@local").count() == 1


def test_a_closed_agent_has_no_caller_without_a_key(ada, bob):
    assert caller_without_key(bob.agent) is None
    open_to_anyone(ada, bob.agent)
    close_to_anyone(ada, bob.agent)
    close_to_anyone(ada, bob.agent)

    assert caller_without_key(bob.agent) is None
    assert not is_open(bob.agent)


def test_a_closing_revokes_grants_that_were_given_by_hand(ada, bob):
    anonymous = own_agent_setup.hub_agent(ANONYMOUS)
    for action in ("a2a.send.bob@local", f"a2a.send.{bob.agent.pubkey}"):
        grants.grant(ada, anonymous, action)
    assert is_open(bob.agent)

    close_to_anyone(ada, bob.agent)

    assert actions_of(anonymous) == set()


@pytest.mark.parametrize("who", ["olga", "bob", "mallory"])
@pytest.mark.parametrize("act", [open_to_anyone, close_to_anyone])
def test_only_admins_open_and_close(request, ada, bob, who, act):
    open_to_anyone(ada, bob.agent)

    with pytest.raises(CapabilityMissingError):
        act(request.getfixturevalue(who), bob.agent)

    assert is_open(bob.agent)
    assert factories.last_event().fields["missing_actions"] == ["a2a.capabilities.grant"]


def test_no_agent_opens_another_by_passing_its_grant_on(bob):
    alice = factories.agent("alice", "a2a.send.bob@local")

    grants.grant(alice, own_agent_setup.hub_agent(ANONYMOUS), "a2a.send.bob@local")

    assert not is_open(bob.agent)
    assert caller_without_key(bob.agent) is None


@pytest.mark.parametrize(
    "fields",
    [
        {"action": "a2a.send.*"},
        {"action": "a2a.send.carol@local"},
        {"action": "a2a.send.bob@local", "expires_at": MOMENT - timedelta(hours=1)},
        {"action": "a2a.send.bob@local", "revoked_at": MOMENT},
        {"action": "a2a.send.bob@local", "max_uses": 1, "uses": 1},
    ],
    ids=["any agent", "another agent", "expired", "revoked", "used up"],
)
def test_only_a_live_grant_that_names_the_agent_opens_it(bob, fields):
    factories.GrantFactory.create(subject=own_agent_setup.hub_agent(ANONYMOUS), **fields)

    assert not is_open(bob.agent)
    assert caller_without_key(bob.agent) is None


def test_a_caller_without_a_key_has_the_grants_for_this_agent_alone(ada, bob):
    carol = factories.agent("carol")
    for one in (bob, carol):
        open_to_anyone(ada, factories.row_of(one))
    caller = caller_without_key(bob.agent)

    with pytest.raises(CapabilityMissingError):
        sending.send_task(caller, factories.task_envelope(carol))


def test_one_query_finds_the_caller_without_a_key(ada, bob, django_assert_num_queries):
    open_to_anyone(ada, bob.agent)

    with django_assert_num_queries(1):
        caller_without_key(bob.agent)


@pytest.mark.parametrize("display", [ANONYMOUS, "Anonymous@Public"])
def test_no_program_registers_under_the_name(ada, display):
    with pytest.raises(InvalidRequestError, match="reserved for an agent of the hub"):
        registration.register_agent(ada, display)

    assert not Agent.objects.exists()


def test_a_program_with_that_name_from_an_earlier_version_opens_nothing(ada, bob):
    squatter = factories.AgentFactory.create(display=ANONYMOUS)
    store_key(timezone.now(), agent=squatter)
    factories.GrantFactory.create(subject=squatter, action="a2a.send.bob@local")

    assert caller_without_key(bob.agent) is None
    with pytest.raises(AgentConflictError, match=f"agents reclaim {ANONYMOUS}"):
        open_to_anyone(ada, bob.agent)

    own_agent_setup.reclaim(Caller.command_line(), ANONYMOUS)
    open_to_anyone(ada, bob.agent)
    assert is_open(bob.agent)


def test_an_agent_of_the_hub_itself_is_not_opened(ada):
    with pytest.raises(InvalidRequestError, match="an agent of the hub itself"):
        open_to_anyone(ada, own_agent_setup.hub_agent(OPERATORS))
