from datetime import timedelta

import pytest
from django.utils import timezone

from agentcards.models import AgentProfile
from mailbox.access.agents import registration
from mailbox.access.callers import Role
from mailbox.access.credentials import authentication
from mailbox.life import leasing
from mailbox.models import Agent, AuditEvent
from tests.support import factories
from tests.support.api import Api

pytestmark = pytest.mark.django_db

KEYS = [
    *("id", "name", "agentId", "description", "personaArchetype", "skillBundles", "defaultProjectId"),
    *("mcpToolPermissions", "walletAddress", "algochatEnabled", "remote", "remoteUrl"),
    *("inputModes", "outputModes", "cardVersion", "documentationUrl", "iconUrl"),
    *(
        "streaming",
        "pushNotifications",
        "extendedCard",
        "cardFor03",
        "messageIdIsKey",
        "extensions",
        "extendedTools",
        "paused",
    ),
    *("pausedReason", "createdAt"),
]


@pytest.fixture
def ada():
    return factories.person("ada", Role.ADMIN)


def test_an_agent_registered_by_name_is_listed_seen_and_has_a_card(ada, bob):
    made = Api(ada).call("POST", "/api/agents", {"name": "A2A Card Agent", "algochatEnabled": True, "model": "x"})
    reader, path = Api(bob), f"/api/agents/{made.json()['id']}"

    assert made.status_code == 201
    assert list(made.json()) == [*KEYS, "apiKey", "privateKey"]
    assert (made.json()["id"], made.json()["name"]) == ("A2A-Card-Agent@local", "A2A Card Agent")
    assert reader.get(path).json() == {key: made.json()[key] for key in KEYS}
    assert [agent["id"] for agent in reader.get("/api/agents").json()] == ["A2A-Card-Agent@local", "bob@local"]
    assert reader.get(f"{path}/agent-card").json()["name"] == "A2A Card Agent"
    authenticated = authentication.authenticate(made.json()["apiKey"], source=AuditEvent.Source.API)
    assert authenticated.name == "A2A-Card-Agent@local"


def test_an_agent_is_registered_with_its_whole_profile(ada):
    profile = {
        "description": "Reviews",
        "personaArchetype": "Scholar",
        "skillBundles": ["review"],
        "defaultProjectId": "main",
        "mcpToolPermissions": ["corvid_web_search"],
        "walletAddress": "ALGO",
        "remoteUrl": "https://remote.example",
        "inputModes": ["image/*"],
        "outputModes": ["text/plain"],
        "cardVersion": "2",
        "iconUrl": "https://docs.example/i.png",
        **dict.fromkeys(("streaming", "pushNotifications", "extendedCard", "cardFor03"), False),
        "messageIdIsKey": True,
        "extensions": [{"uri": "urn:x", "required": True}],
        "extendedTools": ["write"],
    }

    made = Api(ada).call("POST", "/api/agents", {"name": "canyon", **profile}).json()

    assert {key: made[key] for key in profile} == profile
    assert (made["id"], made["remote"], made["algochatEnabled"]) == ("canyon@local", True, True)
    assert AgentProfile.objects.get().name == ""


def test_an_agent_can_be_registered_with_its_key_and_address(ada):
    pubkey = factories.some_pubkey()

    made = Api(ada).call("POST", "/api/agents", {"name": "Größe", "display": "size@lab", "publicKey": pubkey}).json()

    assert (made["agentId"], made["name"], made["privateKey"]) == (
        {"display": "size@lab", "pubkey": pubkey},
        "Größe",
        None,
    )


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("émile ☃", "emile@local"),
        ("Ångström №1", "Angstrom-No1@local"),
        ("A (b)", "A-b@local"),
    ],
)
def test_an_address_is_made_of_the_name_without_its_marks(ada, name, address):
    made = Api(ada).call("POST", "/api/agents", {"name": name}).json()

    assert (made["id"], made["name"]) == (address, name)


@pytest.mark.parametrize(
    ("body", "status", "error"),
    [
        ("no json", 400, "Invalid JSON body"),
        ("[]", 400, "Validation failed: body: "),
        ({}, 400, "Validation failed: name: is required"),
        ({"name": ""}, 400, "Validation failed: name: "),
        ({"name": "x" * 201}, 400, "Validation failed: name: "),
        ({"name": "漢字"}, 400, "Validation failed: display: is required: no address can be made of this name"),
        ({"name": "b 漢字"}, 400, "Validation failed: display: is required"),
        ({"name": "Größe"}, 400, "Validation failed: display: is required"),
        ({"name": "☃"}, 400, "Validation failed: display: is required"),
        ({"name": "x" * 195}, 400, "Validation failed: display: is required"),
        ({"name": 5}, 400, "Validation failed: name: "),
        ({"name": "x", "description": 5}, 400, "Validation failed: description: "),
        ({"name": "x", "mcpToolPermissions": ["a", 5]}, 400, "Validation failed: mcpToolPermissions.1: "),
        ({"name": "x", "mcpToolPermissions": [""]}, 400, "Validation failed: mcpToolPermissions: "),
        ({"name": "x", "remoteUrl": "http://127.0.0.1"}, 400, "Validation failed: remoteUrl: Blocked URL"),
        ({"name": "x", "remoteUrl": "http://xn--127"}, 400, "Validation failed: remoteUrl: Invalid URL"),
        ({"name": "x", "inputModes": ["text"]}, 400, "Validation failed: inputModes: 'text' is no media type"),
        ({"name": "x", "streaming": "on"}, 400, "Validation failed: streaming: "),
        ({"name": "x", "extensions": [{"uri": ""}]}, 400, "Validation failed: extensions: uri must be an absolute"),
        ({"name": "x", "publicKey": "short"}, 400, "Validation failed: publicKey: publicKey must decode"),
        ({"name": "bob"}, 409, '"bob@local" or its public key is already registered.'),
        ({"name": "BOB"}, 409, "already registered"),
    ],
)
def test_an_agent_that_cannot_be_registered_is_refused_in_corvid_s_shape(ada, bob, body, status, error):
    refused = Api(ada).call("POST", "/api/agents", body)

    assert refused.status_code == status
    assert list(refused.json()) == ["error"]
    assert error in refused.json()["error"]
    assert Agent.objects.count() == 1


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_fields_that_are_left_out_stay_and_null_empties_a_field(ada, bob, method):
    client = Api(ada)
    client.call(method, "/api/agents/bob", {"description": "Works", "mcpToolPermissions": ["a"], "name": "Bob"})

    changed = client.call(method, "/api/agents/bob", {"description": None, "defaultProjectId": "main"}).json()

    assert (changed["description"], changed["defaultProjectId"], changed["name"]) == ("", "main", "Bob")
    assert changed["mcpToolPermissions"] == ["a"]
    assert client.call(method, "/api/agents/bob", {"mcpToolPermissions": None}).json()["mcpToolPermissions"] is None


def test_an_agent_changes_its_own_description_and_no_other_s(alice, bob):
    own = Api(alice).call("PUT", "/api/agents/alice", {"description": "Mine"})
    foreign = Api(alice).call("PUT", "/api/agents/bob", {"description": "Mine"})

    assert (own.status_code, own.json()["description"]) == (200, "Mine")
    assert (foreign.status_code, list(foreign.json())) == (403, ["error"])


def test_a_remote_url_is_shown_to_the_agent_and_to_admins_alone(ada, alice, bob, olga):
    factories.profile(bob, remote_url="https://:secret@remote.example")

    shown = {caller.name: Api(caller).get("/api/agents/bob").json() for caller in (ada, alice, bob, olga)}

    assert {name for name, agent in shown.items() if agent["remoteUrl"]} == {"user:ada", "bob@local"}
    assert all(agent["remote"] for agent in shown.values())
    assert b"secret" not in Api(alice).get("/api/agents").content


def test_a_paused_agent_is_shown_with_the_reason(bob, olga):
    registration.pause_agent(olga, bob.agent, reason="deploying")

    shown = Api(olga).get("/api/agents/bob").json()

    assert (shown["paused"], shown["pausedReason"]) == (True, "deploying")
    assert Api(olga).get("/api/agents/bob/agent-card").status_code == 200


@pytest.mark.parametrize("tail", ["", "/agent-card"])
@pytest.mark.parametrize("form", ["display", "local", "pubkey"])
def test_an_agent_is_named_in_any_form(bob, form, tail):
    assert Api(bob).get(f"/api/agents/{getattr(bob.agent, form)}{tail}").status_code == 200


@pytest.mark.parametrize("tail", ["", "/agent-card"])
@pytest.mark.parametrize("name", ["nobody", "BOB", "bob@elsewhere", "%00", "a b", "..", "x" * 300, "1" * 44])
def test_an_unknown_agent_is_404_in_corvid_s_shape(bob, name, tail):
    refused = Api(bob).get(f"/api/agents/{name}{tail}")

    assert (refused.status_code, refused.json()) == (404, {"error": "Not found"})


def test_a_key_finds_its_agent_before_a_local_part_of_the_same_text(bob):
    factories.AgentFactory.create(display=f"{bob.agent.pubkey}@local")

    assert Api(bob).get(f"/api/agents/{bob.agent.pubkey}").json()["id"] == "bob@local"


def test_the_list_is_whole_by_default_and_pages_by_link(settings, alice, bob, olga):
    client = Api(olga)
    factories.AgentFactory.create()

    first = client.get("/api/agents?limit=2")
    _, _, tail = first["Link"].partition(f"<{settings.PUBLIC_URL}")
    second = client.get(tail.partition(">")[0])

    assert [agent["id"] for agent in first.json() + second.json()] == [
        agent["id"] for agent in client.get("/api/agents").json()
    ]
    assert (len(first.json()), len(second.json())) == (2, 1)
    assert first["Link"].endswith('>; rel="next"')
    assert "Link" not in second


@pytest.mark.parametrize("query", ["limit=0", "limit=1001", "limit=x", "cursor=x", "page=1"])
def test_a_malformed_query_is_400(bob, query):
    assert Api(bob).get(f"/api/agents?{query}").status_code == 400


def expired_key(caller):
    return factories.key_of(caller, expires_at=timezone.now() - timedelta(seconds=1))


# Source: corvid-agent, what its server answers to each credential; X-API-Key and Basic are accepted beyond it.
@pytest.mark.parametrize(
    ("authorization", "status", "error"),
    [
        (None, 401, "Authentication required"),
        ("Digest x", 401, "Invalid Authorization header format. Expected: Bearer <key>"),
        ("Bearer", 401, "Invalid Authorization header format. Expected: Bearer <key>"),
        ("Bearer nonsense", 403, "Invalid API key"),
        ("Bearer {revoked}", 403, "Invalid API key"),
        ("Bearer {expired}", 401, "API key expired, rotation required"),
    ],
)
def test_credentials_are_refused_in_corvid_s_words(bob, authorization, status, error):
    keys = {"expired": expired_key(bob), "revoked": factories.key_of(bob, revoked_at=timezone.now())}
    headers = {"Authorization": authorization.format(**keys)} if authorization else {}

    answer = Api(headers=headers).get("/api/agents")

    assert (answer.status_code, answer.json()) == (status, {"error": error})
    assert answer.headers.get("WWW-Authenticate") == ("Bearer" if status == 401 else None)


def test_a_key_that_expired_and_was_revoked_is_unknown(bob):
    key = factories.key_of(bob, revoked_at=timezone.now(), expires_at=timezone.now() - timedelta(days=1))
    almost = expired_key(bob)[:-7] + "xxxxxxx"

    for wrong in (key, almost):
        refused = Api(headers={"Authorization": f"Bearer {wrong}"}).get("/api/agents")
        assert (refused.status_code, refused.json()) == (403, {"error": "Invalid API key"})


def test_an_agent_is_invoked_by_agents_that_may_send_to_it(alice, bob):
    sent = Api(alice).call("POST", "/api/agents/bob/invoke", {"content": "hello"})

    (lease,) = leasing.lease_tasks(bob)
    assert sent.status_code == 201
    assert sent.json() == {"messageId": str(lease.task.uuid), "txid": None, "sessionId": None}
    assert (lease.task.intent_text, lease.task.sender) == ("hello", alice.agent)
    assert Api(alice).get(f"/a2a/tasks/{sent.json()['messageId']}").json()["state"] == "working"


def test_an_agent_cannot_invoke_in_the_name_of_another(alice, bob, mallory):
    body = {"toAgentId": "bob@local", "content": "hello"}

    sent = Api(alice).call("POST", "/api/agents/alice/invoke", body)
    forged = Api(mallory).call("POST", "/api/agents/alice/invoke", body)

    (lease,) = leasing.lease_tasks(bob, limit=5)
    assert (sent.status_code, forged.status_code) == (201, 403)
    assert lease.task.sender == alice.agent


@pytest.mark.parametrize(
    ("body", "status"),
    [({}, 400), ({"content": ""}, 400), ({"content": 1}, 400), ({"content": "x", "toAgentId": "nobody"}, 404)],
)
def test_a_malformed_invocation_is_refused(alice, bob, body, status):
    refused = Api(alice).call("POST", "/api/agents/bob/invoke", body)

    assert refused.status_code == status
    assert "error" in refused.json()
    assert "intent_text" not in refused.json()["error"]
