"""An agent is found by its identity, or by a typed name. An unknown or ambiguous name has one refusal."""

from collections.abc import Callable

import pytest
from django.core.management import CommandError, call_command

from mailbox import Mailbox
from mailbox.access.agents import directory, grants
from mailbox.access.callers import Caller, Role
from mailbox.access.credentials import public_routes
from mailbox.dialects.marianne import A2AInbox
from mailbox.inspection import lookup
from mailbox.life import sending
from mailbox.models import Agent, Task
from mailbox.words import names
from mailbox.words.envelopes import AgentRef, TaskEnvelope
from mailbox.words.errors import UnknownAgentError
from tests.support import factories
from tests.support.api import Api
from tests.support.yeoman import Peer, envelope

pytestmark = pytest.mark.django_db

AMBIGUOUS = '"twin" is ambiguous: twin@east, twin@west.'


@pytest.fixture(autouse=True)
def _twins() -> None:
    for host in ("west", "east"):
        factories.AgentFactory.create(display=f"twin@{host}")


def said(act: Callable[[], object]) -> str:
    """Return the message of the error."""
    with pytest.raises((UnknownAgentError, CommandError)) as refusal:
        act()
    return str(refusal.value)


def words_by_door(name: str, alice: Caller) -> dict[str, str]:
    """Return what each door answers to a request that names an agent so."""
    ada = factories.person("ada", Role.ADMIN)
    sent, admin = {"recipient": name, "intent_text": "x"}, Api(ada)
    granted = {"subject": name, "action": "a2a.send.*"}
    return {
        "send": Api(alice).post("/a2a/tasks", sent).json()["message"],
        "pause": admin.post(f"/a2a/agents/{name}/pause", {"reason": "r"}).json()["message"],
        "grant to": admin.post("/capabilities/grant", granted).json()["message"],
        "grant for": said(lambda: grants.grant(ada, factories.row_of(alice), f"a2a.send.{name}")),
        "add key": admin.post("/a2a/keys", {"agent": name}).json()["message"],
        "inbox": Api(alice).get(f"/a2a/inboxes/{name}/tasks").json()["message"],
        "in process": said(lambda: Mailbox().try_recv_task_for(name)),
        "command line": said(lambda: call_command("a2a", "agents", "pause", name, "--reason", "r")),
    }


def test_an_unknown_name_is_refused_in_the_same_words_at_every_door(alice: Caller) -> None:
    assert set(words_by_door("nobody", alice).values()) == {'No agent named "nobody" is registered.'}


def test_an_ambiguous_name_is_refused_in_the_same_words_at_every_door(alice: Caller) -> None:
    assert set(words_by_door("twin", alice).values()) == {AMBIGUOUS}


def test_a_public_route_does_not_learn_which_agents_have_the_name(alice: Caller) -> None:
    message = envelope("a2a:delegate", {"task": "x"}, toPeerId="twin")

    keyed = Peer(alice).receive(message).json()
    public = Peer(prefix=factories.route(alice)).receive(message).json()

    assert (keyed["detail"], public["detail"]) == (AMBIGUOUS, '"twin" is ambiguous.')


def test_public_routes_and_callers_without_a_name_read_no_other_names(alice: Caller) -> None:
    made = public_routes.add(Caller.command_line(), factories.row_of(alice), rate_limit=9)
    route = public_routes.caller(made.route, request_id="")
    task = TaskEnvelope(recipient=AgentRef("twin"), intent_text="x")

    assert said(lambda: sending.send_task(route, task)) == '"twin" is ambiguous.'
    assert said(lambda: directory.typed(None, "twin")) == '"twin" is ambiguous.'


def test_many_namesakes_are_listed_up_to_a_limit(alice: Caller) -> None:
    for number in range(9):
        factories.AgentFactory.create(display=f"twin@a{number}")

    assert said(lambda: directory.typed(alice, "twin")).count("twin@") == 5


@pytest.mark.parametrize("text", ["bob", "bob@local", "pubkey"])
def test_a_typed_name_is_a_local_part_a_display_or_a_public_key(alice: Caller, bob: Caller, text: str) -> None:
    agent = factories.row_of(bob)
    text = agent.pubkey if text == "pubkey" else text

    assert directory.typed(alice, text) == directory.typed_or_none(alice, text) == agent
    assert lookup.find(text) == [agent]


@pytest.mark.parametrize("text", ["nobody", "BOB@local", "bob@elsewhere", "", "a b", "\x00", "é", "x" * 300, "1" * 44])
def test_any_other_text_names_no_agent(alice: Caller, bob: Caller, text: str) -> None:
    assert said(lambda: directory.typed(alice, text)) == f'No agent named "{text[:200]}" is registered.'
    assert directory.typed_or_none(alice, text) is None


def test_an_identity_is_compared_exactly_and_its_key_decides(alice: Caller, bob: Caller) -> None:
    key = factories.row_of(bob).pubkey

    assert directory.identified(alice, AgentRef("bob")) == bob.agent
    assert directory.identified(alice, AgentRef("twin@east", key)) == bob.agent
    assert (
        said(lambda: directory.identified(alice, AgentRef("BOB@local"))) == 'No agent named "BOB@local" is registered.'
    )


def test_looking_an_agent_up_ignores_the_case_of_its_whole_name(bob: Caller) -> None:
    twins = list(Agent.objects.filter(local="twin").order_by("display"))

    assert lookup.find("BOB@Local") == lookup.find("BOB") == lookup.find("bo") == [bob.agent]
    assert lookup.find("TWIN@east") == [Agent.objects.get(display="twin@east")]
    assert lookup.find("Twin") == twins
    assert lookup.find("nobody") == []


def test_text_that_is_a_public_key_never_names_another_agent(alice: Caller) -> None:
    bob = factories.agent("bob")
    key = factories.row_of(bob).pubkey
    factories.AgentFactory.create(display=f"{key}@local")

    task_id = Api(alice).post("/a2a/tasks", {"recipient": key, "intent_text": "x"}).json()["task_id"]

    assert Task.objects.get(uuid=task_id).recipient == bob.agent
    assert directory.identified(None, AgentRef.parse(f"{key}@local")).display == f"{key}@local"


@pytest.mark.parametrize("host", ["local", "elsewhere", "inbox"])
def test_no_agent_is_registered_under_a_public_key(host: str) -> None:
    ada, key = factories.person("ada", Role.ADMIN), factories.some_pubkey()

    refused = Api(ada).post("/a2a/agents", {"display": f"{key}@{host}"})

    assert (refused.status_code, list(refused.json()["fields"])) == (400, ["display"])


def test_an_inbox_may_have_any_name_even_a_public_key() -> None:
    key = factories.row_of(factories.agent("bob")).pubkey

    assert A2AInbox("job", key).get_pending_tasks() == []
    assert Agent.objects.filter(display=names.spelled(key)).exists()
