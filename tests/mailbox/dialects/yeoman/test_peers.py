"""Peers: their heartbeats, their announcements, and the hub's description of itself for them."""

from datetime import timedelta

import pytest

from agentcards.models import AgentCard, AgentProfile
from agentcards.registry import CardRegistry
from mailbox.access.agents import peers
from mailbox.models import Agent, Peer
from tests.support import factories, yeoman
from tests.support.yeoman import envelope
from tests.support.yeoman_recorded import STATIC

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("default_agent")]


def listed(caller):
    return yeoman.Peer(caller).get("/a2a/peers").json()["peers"]


def test_a_heartbeat_shows_the_peer_to_operators_and_to_its_own_agent(peer, alice, bob, olga):
    peer.send("a2a:heartbeat", fromPeerId="edge-1")

    [shown] = listed(olga)
    assert shown["agent"] == {"display": "alice@local", "pubkey": alice.agent.pubkey}
    assert (shown["peer_id"], shown["status"], shown["capabilities"]) == ("edge-1", "online", [])
    assert shown["first_seen_at_ms"] == shown["last_seen_at_ms"]
    assert listed(alice) == [shown]
    assert listed(bob) == []


def test_peers_of_two_credentials_are_two_peers_under_the_same_name(peer, bob):
    peer.send("a2a:heartbeat")
    yeoman.Peer(bob).send("heartbeat")

    assert list(Peer.objects.order_by("pk").values_list("agent__display", "peer_id")) == [
        ("alice@local", "self"),
        ("bob@local", "self"),
    ]


@pytest.mark.parametrize(
    ("silence", "status"), [(0, "online"), (30, "online"), (31, "suspect"), (90, "suspect"), (91, "offline")]
)
def test_a_silent_peer_is_suspect_and_then_offline(peer, olga, time_machine, silence, status):
    time_machine.move_to("2026-01-01T00:00:00Z", tick=False)
    peer.send("a2a:heartbeat")

    time_machine.shift(timedelta(seconds=silence))

    assert listed(olga)[0]["status"] == status


def test_a_new_heartbeat_makes_a_silent_peer_online_again(peer, olga, settings, time_machine):
    settings.A2A_PEER_SUSPECT_AFTER, settings.A2A_PEER_OFFLINE_AFTER = timedelta(seconds=1), timedelta(seconds=2)
    time_machine.move_to("2026-01-01T00:00:00Z", tick=False)
    peer.send("a2a:heartbeat")
    time_machine.shift(3)
    before = listed(olga)[0]["status"]

    peer.send("a2a:heartbeat")

    assert (before, listed(olga)[0]["status"]) == ("offline", "online")
    assert Peer.objects.count() == 1


def test_a_peer_that_disconnects_is_offline_until_its_next_heartbeat(peer, olga):
    can = [{"name": "chat", "description": "d", "version": "1"}]
    peer.send("a2a:announce", {"name": "edge", "url": "http://edge:1", "capabilities": can}, fromPeerId="e")
    [announced] = listed(olga)

    peer.send("a2a:disconnect", fromPeerId="e")
    [left] = listed(olga)
    peer.send("a2a:heartbeat", fromPeerId="e")
    [back] = listed(olga)

    assert (announced["name"], announced["url"], announced["capabilities"]) == ("edge", "http://edge:1", can)
    assert [one["status"] for one in (announced, left, back)] == ["online", "offline", "online"]


@pytest.mark.parametrize("payload", [{}, {"name": 7, "url": [], "capabilities": "x"}, {"name": "n" * 999}])
def test_an_announcement_may_hold_any_json(peer, payload):
    peer.send("a2a:announce", payload, fromPeerId="x" * 999)

    row = Peer.objects.get()
    assert (len(row.peer_id), row.announced) == (200, [])
    assert len(row.name) <= 200


def test_only_the_last_seen_peers_of_an_agent_are_kept(peer, monkeypatch):
    monkeypatch.setattr(peers, "PEERS_PER_AGENT", 2)

    for name in ("a", "b", "c"):
        peer.send("a2a:heartbeat", fromPeerId=name)

    assert set(Peer.objects.values_list("peer_id", flat=True)) == {"b", "c"}


def test_a_node_registers_itself_and_gets_its_id(peer, olga):
    node = {"nodeId": "n-1", "hostname": "edge", "arch": "arm64", "totalMemoryMb": 512, "hasGpu": False}
    body = {"url": "http://0.0.0.0:18891", "name": "edge", "capabilities": node, "mode": "edge"}

    response = peer.post("/api/v1/a2a/peers/local", body)
    peer.send("a2a:heartbeat")

    told = response.json()["peer"]
    assert response.status_code == 201
    assert (told["id"], told["name"], told["url"]) == ("alice@local", "edge", "http://0.0.0.0:18891")
    assert (told["trustLevel"], told["status"], told["capabilities"]) == ("untrusted", "online", node)
    [shown] = listed(olga)
    assert (shown["peer_id"], shown["name"]) == ("self", "edge")


@pytest.mark.parametrize(
    ("body", "loc"),
    [({"name": "n"}, "url"), ({"url": "http://x"}, "name"), ({"url": "javascript:alert(1)", "name": "n"}, "url")],
)
def test_a_registration_that_does_not_fit_is_unprocessable(peer, body, loc):
    response = peer.post("/api/v1/a2a/peers/local", body)

    assert response.status_code == 422
    assert response.json()["detail"][0]["loc"] == ["body", loc]
    assert not Peer.objects.exists()


def test_a_person_registers_no_node(olga):
    assert yeoman.Peer(olga).post("/api/v1/a2a/peers/local", {"url": "http://x", "name": "n"}).status_code == 403


def test_a_hub_without_skills_claims_no_capability(client):
    assert client.get("/api/v1/a2a/capabilities").json() == {"capabilities": []}


def test_the_skills_of_agents_are_listed_only_when_wanted(client, bob, settings):
    carol = factories.agent("carol")
    factories.profile(carol, tool_permissions=["summarise"])
    factories.tool("search", description="Finds", is_default=True)
    factories.tool("summarise")
    settings.A2A_CAPABILITIES = [{"name": "own", "description": "d", "version": "2"}]
    settings.A2A_CAPABILITIES_DYNAMIC = False
    fixed = client.get("/api/v1/a2a/capabilities").json()["capabilities"]

    settings.A2A_CAPABILITIES_DYNAMIC = True

    assert fixed == settings.A2A_CAPABILITIES
    assert client.get("/api/v1/a2a/capabilities").json()["capabilities"] == [
        *fixed,
        {"name": "search", "description": "Finds", "version": "1.0", "agent": "bob@local"},
        {"name": "summarise", "description": "Tool: summarise", "version": "1.0", "agent": "carol@local"},
    ]


def test_the_skills_of_running_jobs_are_listed_too(client, settings, db):
    settings.A2A_CAPABILITIES, settings.A2A_CAPABILITIES_DYNAMIC = [], True
    skills = [{"id": "review", "description": "Reads code"}]
    CardRegistry().register("job-1", AgentCard(name="kanyon", description="d", skills=skills))

    assert client.get("/api/v1/a2a/capabilities").json()["capabilities"] == [
        {"name": "review", "description": "Reads code", "version": "1.0", "agent": "kanyon"}
    ]


def test_skills_are_public_only_if_cards_are_public(peer, client, bob, settings):
    factories.tool("search", description="Finds", is_default=True)
    settings.A2A_CAPABILITIES, settings.A2A_CAPABILITIES_DYNAMIC, settings.A2A_PUBLIC_AGENT_CARDS = [], True, False

    assert client.get("/api/v1/a2a/capabilities").json() == {"capabilities": []}
    assert client.get("/.well-known/a2a-agent").json()["capabilities"] == []
    assert [one["name"] for one in peer.send("a2a:capability-query")["capabilities"]] == ["search"]


def test_discovery_names_the_default_agent_and_its_key(client, bob, settings):
    settings.A2A_CAPABILITIES = STATIC
    document = client.get("/.well-known/a2a-agent", headers={"Accept": "application/json"}).json()

    assert (document["id"], document["publicKey"]) == ("bob@local", bob.agent.pubkey)
    assert document["name"]
    assert document["capabilities"] == STATIC


def test_discovery_works_before_there_is_an_agent(client, settings):
    AgentProfile.objects.all().delete()
    Agent.objects.all().delete()
    settings.PUBLIC_URL = "https://hub.example"

    assert client.get("/.well-known/a2a-agent").json()["id"] == "hub.example"


def test_a_peer_can_discover_the_hub_by_a_message(peer, bob, settings):
    settings.A2A_CAPABILITIES = STATIC
    can = peer.send("a2a:capability-query")
    who = peer.send("a2a:discover")

    assert (can["type"], len(can["capabilities"])) == ("a2a:capability-response", 3)
    assert (who["type"], who["id"], who["publicKey"]) == ("a2a:announce", "bob@local", bob.agent.pubkey)


def test_an_invalid_heartbeat_does_not_mark_a_peer_as_seen(peer):
    body = envelope()
    del body["id"]

    peer.receive(body)

    assert not Peer.objects.exists()
