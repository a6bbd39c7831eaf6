import json
from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import Group, User
from django.core.management.base import CommandError

from mailbox.access.callers import Role
from mailbox.access.credentials import authentication
from mailbox.models import ApiKey, AuditEvent, CapabilityGrant
from mailbox.words.errors import UnauthenticatedError
from tests.support import factories

PUBKEY = "4vJ9JU1bJJE96FWSJKvHsmmFADCg4gpZQff4P3bkLKi"


def authenticate(key):
    return authentication.authenticate(key, source=AuditEvent.Source.API)


def test_agents_add_prints_the_agent_and_its_secrets(a2a_json):
    added = a2a_json("agents", "add", "research", "--json")

    assert list(added) == ["kind", "agent", "private_key", "api_key"]
    assert added["kind"] == "a2a_agent"
    assert list(added["agent"]) == ["display", "pubkey"]
    assert added["agent"]["display"] == "research@local"
    assert authenticate(added["api_key"]).agent.pubkey == added["agent"]["pubkey"]


def test_an_agent_can_be_added_with_its_own_public_key(a2a, a2a_json):
    added = a2a_json("agents", "add", "own@host", "--pubkey", PUBKEY, "--json")

    assert added["private_key"] is None
    assert added["agent"] == {"display": "own@host", "pubkey": PUBKEY}


def test_the_readable_output_of_agents_add_has_the_secrets_too(a2a):
    name, *rest = a2a("agents", "add", "research").splitlines()
    shown = {line.rsplit(maxsplit=1)[0].strip(): line.rsplit(maxsplit=1)[1] for line in rest[:-1]}

    assert name == "research@local"
    assert list(shown) == ["public key", "private key", "API key"]
    assert authenticate(shown["API key"]).name == "research@local"


def test_adding_a_registered_name_is_an_error(a2a, cast):
    with pytest.raises(CommandError, match="already registered") as refusal:
        a2a("agents", "add", "ALICE", "--json")

    assert refusal.value.returncode == 1


def test_the_command_line_is_journalled_as_the_system_user(cast):
    rows = AuditEvent.objects.filter(kind="agent_registered")

    assert {row.source for row in rows} == {"cli"}
    assert all(row.actor.startswith("cli:") for row in rows)


def test_agents_list_prints_all_pages_by_name(a2a, a2a_json, cast, monkeypatch):
    monkeypatch.setattr("mailbox.management.cli.agents.PAGE", 1)

    assert a2a_json("agents", "list", "--json") == {"kind": "a2a_agents", "agents": [cast["alice"], cast["bob"]]}
    assert [line.split()[0] for line in a2a("agents", "list").splitlines()] == ["alice@local", "bob@local"]


def test_an_empty_list_of_agents_prints_a_notice(a2a):
    assert a2a("agents", "list") == "(no agents)"


def test_an_added_key_acts_as_its_agent_until_it_is_revoked(a2a, a2a_json, cast):
    added = a2a_json("keys", "add", "alice", "--json")
    name = authenticate(added["api_key"]).name

    revoked = a2a("keys", "revoke", added["public_id"])

    assert name == "alice@local"
    assert revoked == f"revoked key {added['public_id']}"
    with pytest.raises(UnauthenticatedError):
        authenticate(added["api_key"])


def test_a_key_of_a_person_acts_in_their_role(a2a, db):
    User.objects.create(username="olga").groups.add(Group.objects.get(name="operator"))

    key = a2a("keys", "add", "--user", "olga").splitlines()[0]

    assert authenticate(key).role == Role.OPERATOR


@pytest.mark.parametrize(
    "written", ["2030-01-31T12:00:00Z", "2030-01-31T13:00:00+01:00", "2030-01-31T12:00", 1896091200000]
)
def test_a_key_expires_at_the_time_given(a2a_json, cast, written):
    added = a2a_json("keys", "add", "alice", "--expires-at", written, "--json")

    assert ApiKey.objects.get(public_id=added["public_id"]).expires_at == datetime(2030, 1, 31, 12, tzinfo=UTC)


@pytest.mark.parametrize("words", [["keys", "add", "alice"], ["grant", "alice", "a2a.send.bob@local"]])
@pytest.mark.parametrize("written", [5, 1896091200, "2001-01-31"])
def test_an_expiry_time_in_the_past_is_rejected(a2a, cast, words, written):
    with pytest.raises(CommandError, match=r"expires_at: must be in the future; .* epoch milliseconds, not seconds"):
        a2a(*words, "--expires-at", written)


@pytest.mark.parametrize("words", [["--user", "nobody"], ["nobody"]])
def test_a_key_needs_an_owner_that_exists(a2a, words):
    with pytest.raises(CommandError, match=r"no such person|No agent named"):
        a2a("keys", "add", *words)


def test_an_unknown_key_cannot_be_revoked(a2a):
    with pytest.raises(CommandError, match='No key has the public id "12345678"'):
        a2a("keys", "revoke", "12345678")


def test_a_grant_has_the_given_options_until_it_is_revoked(a2a, a2a_json, cast):
    scope = {"version": 1, "peer_pubkey_b58": PUBKEY}
    granted = a2a_json(
        *("grant", "alice", "a2a.send.bob@local", "--scope", json.dumps(scope), "--max-uses", 3),
        *("--expires-at", "2999-01-01", "--json"),
    )
    grant = CapabilityGrant.objects.get(grant_id=granted["grant_id"])
    before = a2a("grants", "list")

    revoked = a2a_json("revoke", granted["grant_id"], "--json")

    assert granted == {
        "kind": "capability_granted",
        "grant_id": str(grant.grant_id),
        "subject_display": "alice@local",
        "action": "a2a.send.bob@local",
    }
    assert (grant.pins, grant.max_uses) == ({"peer_pubkey_b58": PUBKEY}, 3)
    assert "0 of 3 used, until 2999-01-01T00:00:00Z" in before
    assert list(revoked) == ["kind", "grant_id", "revoked_at_ms"]
    assert "revoked" in a2a("grants", "list")


def test_grants_are_listed_newest_first(a2a, a2a_json, cast):
    a2a("grant", "alice", "a2a.send.*")
    a2a("grant", "bob", "a2a.respond.*")

    listed = a2a_json("grants", "list", "--json")

    assert [one["action"] for one in listed["capabilities"]] == ["a2a.respond.*", "a2a.send.*"]
    assert [line.split()[1:4] for line in a2a("grants", "list").splitlines()] == [
        ["bob@local", "a2a.respond.*", "live"],
        ["alice@local", "a2a.send.*", "live"],
    ]


def test_the_error_for_an_unknown_action_lists_the_known_actions(a2a, cast):
    with pytest.raises(CommandError, match=r"unknown action; known actions: a2a\.send\.<agent>"):
        a2a("grant", "alice", "a2a.fly")


def test_a_scope_without_version_is_refused(a2a, cast):
    with pytest.raises(CommandError, match="must set version 1"):
        a2a("grant", "alice", "a2a.send.*", "--scope", '{"task_id":"x"}')


def test_an_agent_is_paused_with_a_reason_and_resumed(a2a, a2a_json, cast):
    paused = a2a_json("agents", "pause", "bob", "--reason", "deploying", "--json")
    listed = a2a("agents", "list")
    said = a2a("agents", "resume", "bob@local")

    assert paused["kind"] == "a2a_agent_paused"
    assert listed.splitlines()[1].endswith("paused: deploying")
    assert said == "resumed bob@local"
    assert "paused" not in a2a("agents", "list")


def test_a_pause_without_a_reason_is_refused(a2a, cast):
    with pytest.raises(CommandError, match="reason must not be empty"):
        a2a("agents", "pause", "bob", "--reason", " ")


def test_an_agent_of_the_hub_is_reclaimed(a2a):
    factories.AgentFactory.create(display="Operators@hub")

    assert a2a("agents", "reclaim", "operators@hub").startswith("reclaimed operators@hub: ")


def test_a_key_is_rotated_at_the_command_line(a2a, a2a_json, alice):
    added = a2a_json("keys", "add", "alice", "--json")

    rotated = a2a_json("keys", "rotate", added["public_id"], "--overlap-ms", "60000", "--json")

    assert rotated["replaces"] == added["public_id"]
    assert authenticate(rotated["api_key"]).agent == alice.agent


def test_the_readable_output_of_keys_rotate_names_the_end_of_the_old_key(a2a, a2a_json, alice):
    added = a2a_json("keys", "add", "alice", "--json")

    key, kept, ends = a2a("keys", "rotate", added["public_id"]).splitlines()

    assert authenticate(key).agent == alice.agent
    assert kept == "Keep it: the hub never prints it again."
    assert ends.startswith("The old key expires at 2")


def test_keys_revoke_names_every_key_that_it_revoked(a2a, a2a_json, alice):
    added = a2a_json("keys", "add", "alice", "--json")
    rotated = a2a_json("keys", "rotate", added["public_id"], "--json")

    lines = a2a("keys", "revoke", added["public_id"], "--with-made").splitlines()

    assert lines == [f"revoked key {made['public_id']}" for made in (added, rotated)]
