from uuid import uuid4

import pytest

from mailbox.access.callers import Role
from mailbox.models import ApiKey, AuditEvent
from mailbox.words import tokens
from tests.support import factories
from tests.support.api import Api, error_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin():
    return Api(factories.person("ada", Role.ADMIN))


def test_an_agent_adds_a_key_of_its_own_and_revokes_the_old_one(alice):
    old = Api(alice)
    old_id = ApiKey.objects.get().public_id

    made = old.post("/a2a/keys").json()
    new = Api(headers={"X-API-Key": made["api_key"]})
    revoked = new.post("/a2a/keys/revoke", {"public_id": old_id})

    assert (made["kind"], made["expires_at"]) == ("a2a_key", None)
    assert made["public_id"] == tokens.public_id(made["api_key"])
    assert revoked.json() == {"kind": "a2a_key_revoked", "public_id": old_id, "also": []}
    assert new.get("/a2a/queue").status_code == 200
    assert error_of(old.get("/a2a/queue")) == (401, "unauthenticated")
    assert [event.kind for event in AuditEvent.objects.order_by("pk")[:2]] == ["key_added", "key_revoked"]


@pytest.mark.parametrize("owner", [{}, {"agent": "alice", "username": "ada"}, {"username": "nobody"}])
def test_a_key_without_exactly_one_owner_is_refused(admin, alice, owner):
    assert error_of(admin.post("/a2a/keys", owner)) == (400, "invalid_request")


def test_the_error_of_a_key_without_an_owner_names_both_fields(admin):
    assert set(admin.post("/a2a/keys", {}).json()["fields"]) == {"agent", "username"}


def test_an_admin_gives_a_person_a_key_for_automation(admin, olga):
    made = admin.post("/a2a/keys", {"username": "olga"}).json()

    api = Api(headers={"Authorization": f"Bearer {made['api_key']}"})
    assert api.get("/a2a/queue").status_code == 200
    assert error_of(api.post("/capabilities/revoke", {"grant_id": str(uuid4())})) == (404, "unknown_grant")


def test_an_agent_rotates_its_key_and_both_are_valid(alice):
    old = Api(alice)
    old_id = ApiKey.objects.get().public_id

    made = old.post("/a2a/keys/rotate", {"overlap_ms": 60_000}).json()

    new = Api(headers={"X-API-Key": made["api_key"]})
    assert list(made) == ["kind", "public_id", "api_key", "expires_at", "replaces", "overlap_ends_at"]
    assert (made["kind"], made["replaces"], made["expires_at"]) == ("a2a_key_rotated", old_id, None)
    assert (old.get("/a2a/queue").status_code, new.get("/a2a/queue").status_code) == (200, 200)
    assert error_of(old.post("/a2a/keys/rotate", {})) == (409, "key_replaced")


@pytest.mark.parametrize("overlap", [0, 59_999, 604_800_001, "60000", None, 60_000.5])
def test_a_bad_overlap_is_refused(alice, overlap):
    assert error_of(Api(alice).post("/a2a/keys/rotate", {"overlap_ms": overlap})) == (400, "invalid_request")
    assert ApiKey.objects.count() == 1


def test_a_key_is_revoked_with_the_keys_that_it_made(alice):
    old = Api(alice)
    old_id = ApiKey.objects.get().public_id
    made = old.post("/a2a/keys").json()

    revoked = old.post("/a2a/keys/revoke", {"public_id": old_id, "with_made": True}).json()

    assert revoked == {"kind": "a2a_key_revoked", "public_id": old_id, "also": [made["public_id"]]}
    assert not ApiKey.objects.filter(revoked_at=None).exists()
