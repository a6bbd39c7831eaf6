"""The commands that change access: agents, grants, keys and routes."""

import pytest

from mailbox.models import Agent, ApiKey, CapabilityGrant, PublicRoute
from tests.support import factories

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_added_agent_gets_its_key_once(a2a, ada):
    added = a2a("agent", "add", "carol", by=ada)

    assert [row[0] for row in added.rows] == ["agent", "api key", "private key"]
    assert added.err == "Keep the secrets: the hub shows them this once.\n"
    assert Agent.objects.filter(display="carol@local").exists()
    assert a2a("agent", "add", "dave", "-o", "json", by=ada).json["agent"]["display"] == "dave@local"


def test_an_agent_is_paused_shown_and_resumed(a2a, ada, bob):
    paused = a2a("agent", "pause", "bob", "--reason", "no ink", by=ada)
    shown = a2a("agent", "show", "bob", by=ada)
    resumed = a2a("agent", "resume", "bob", "-o", "json", by=ada)

    assert paused.out == "bob@local is paused\n"
    assert shown.rows[3][1].endswith("no ink")
    assert resumed.json["agent"]["display"] == "bob@local"


def test_quotas_are_set_and_restored(a2a, ada, bob):
    own = a2a("agent", "set-quotas", "bob", "queued=7", by=ada)
    restored = a2a("agent", "set-quotas", "bob", "queued=", "-o", "json", by=ada)

    assert [row[2:] for row in own.rows if row[0] == "queued"] == [["7", "this agent's"]]
    assert {quota["is_own"] for quota in restored.json["quotas"]} == {False}
    assert len(a2a("agent", "quotas", "bob", by=ada).rows) == 1 + len(restored.json["quotas"])


def test_a_capability_is_given_and_revoked_by_the_first_characters_of_its_id(a2a, ada, alice, bob):
    given = a2a("grant", "give", "bob", "a2a.send.alice", "--max-uses", 2, "--expires", "30d", "-o", "json", by=ada)
    grant = CapabilityGrant.objects.get(grant_id=given.json["grant_id"])

    revoked = a2a("grant", "revoke", str(grant.grant_id)[:8], by=ada)

    assert (grant.action, grant.max_uses) == ("a2a.send.alice@local", 2)
    assert revoked.out == f"revoked grant {grant.grant_id}\n"


def test_a_key_is_made_for_an_agent_or_a_person_and_revoked(a2a, ada, bob):
    for owner in (("--agent", "bob"), ("--person", "ada")):
        made = a2a("key", "make", *owner, "--expires", "1d", "-o", "json", by=ada).json
        revoked = a2a("key", "revoke", made["public_id"], by=ada)

        assert revoked.out == f"revoked {made['public_id']}\n"
        assert ApiKey.objects.get(public_id=made["public_id"]).revoked_at is not None


def test_a_key_that_is_not_stored_is_shown_after_its_rotation(a2a, bob):
    rotated = a2a("key", "rotate", "--overlap", "10m", by=bob)

    assert [row[0] for row in rotated.rows] == ["key", "api key", "replaces"]
    assert rotated.err == "Keep the key: the hub shows it this once.\n"


def test_a_public_route_is_added_and_revoked(a2a, ada, bob):
    made = a2a("route", "add", "bob", "--rate-limit", 9, "-o", "json", by=ada).json
    revoked = a2a("route", "revoke", made["public_id"], by=ada)

    assert "/p/" in made["url"]
    assert revoked.out == f"revoked route {made['public_id']}\n"
    assert PublicRoute.objects.get().rate_limit == 9


def test_a_delivery_is_sent_again(a2a, ada, alice):
    delivery = factories.PushDeliveryFactory.create(sender=factories.row_of(alice), state="failed")

    resent = a2a("delivery", "resend", str(delivery.delivery_id)[:8], "--reason", "it is up again", by=ada)

    assert (resent.code, resent.out) == (0, f"the hub sends delivery {delivery.delivery_id} again\n"), resent.err


def test_the_owner_of_the_key_is_shown(a2a, ada, bob):
    person, agent = a2a("whoami", by=ada), a2a("whoami", "-o", "json", by=bob)

    assert person.rows[1:] == [["person", "ada"], ["role", "admin"]]
    assert agent.json["agent"]["display"] == "bob@local"
