"""API keys, people, public routes and single agents over HTTP."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from mailbox.access.agents import grants, own_agent_setup
from mailbox.access.callers import Caller, Role
from mailbox.access.people import second_factor
from mailbox.models import ApiKey, PublicRoute
from mailbox.words import tokens
from mailbox.words.times import epoch_ms
from tests.support import factories
from tests.support.api import Api, error_of
from tests.support.codes import code_of

pytestmark = pytest.mark.django_db

MACHINE = Caller.command_line()


@pytest.fixture
def admin():
    return Api(factories.person("ada", Role.ADMIN))


def test_an_agent_lists_its_own_keys_newest_first(alice, bob):
    now = timezone.now()
    old = factories.key_of(alice, revoked_at=now, expires_at=now + timedelta(days=1))
    factories.key_of(bob)
    api = Api(alice)

    listed = api.get("/a2a/keys").json()

    newest, oldest = listed["keys"]
    assert (listed["kind"], listed["next_cursor"]) == ("a2a_keys", None)
    assert oldest == {
        "public_id": tokens.public_id(old),
        "agent": {"display": "alice@local", "pubkey": alice.agent.pubkey},
        "person": None,
        "is_certificate": False,
        "made_by": None,
        "replaces": None,
        "created_at_ms": epoch_ms(ApiKey.objects.order_by("pk")[0].created_at),
        "expires_at": epoch_ms(now + timedelta(days=1)),
        "revoked_at_ms": epoch_ms(now),
        "last_used_at_ms": None,
    }
    assert (newest["agent"]["display"], newest["revoked_at_ms"]) == ("alice@local", None)


def test_an_admin_lists_all_keys_and_no_secret(admin, alice):
    secret = factories.key_of(alice)
    digest = ApiKey.objects.get(public_id=tokens.public_id(secret)).digest

    listed = admin.get("/a2a/keys").json()["keys"]

    owners = [key["person"] or key["agent"]["display"] for key in listed]
    assert owners == ["alice@local", "ada"]
    assert secret[13:] not in str(listed)
    assert digest not in str(listed)


def test_a_refused_list_is_journalled(alice, olga):
    for caller, path, scope in (
        (olga, "/a2a/keys", "a2a-key:*"),
        (olga, "/a2a/people", "a2a-person:*"),
        (alice, "/a2a/routes", "a2a-route:*"),
    ):
        assert error_of(Api(caller).get(path)) == (403, "capability_missing")
        assert factories.journal("capability_check")[-1].fields["agent_id"] == scope


def test_a_list_that_is_allowed_journals_nothing(admin):
    for path in ("/a2a/keys", "/a2a/people", "/a2a/routes"):
        assert admin.get(path).status_code == 200
    assert factories.journal("capability_check") == []


def test_an_admin_lists_people_by_name(admin):
    factories.person("olga", Role.OPERATOR)
    factories.person("nils", None)
    User.objects.filter(username="nils").update(is_active=False)
    signed_in = timezone.now()
    User.objects.filter(username="olga").update(last_login=signed_in, is_staff=True)
    olga, nils = (User.objects.get(username=name) for name in ("olga", "nils"))
    second_factor.confirm(MACHINE, olga, code_of(second_factor.start(MACHINE, olga)), ending=[])
    second_factor.start(MACHINE, nils)

    listed = admin.get("/a2a/people").json()["people"]

    assert [person["name"] for person in listed] == ["ada", "nils", "olga"]
    assert listed[1].items() >= {"role": None, "groups": [], "is_active": False, "has_second_factor": False}.items()
    assert listed[2] == {
        "name": "olga",
        "role": "operator",
        "groups": ["operator"],
        "is_active": True,
        "is_staff": True,
        "has_second_factor": True,
        "created_at_ms": epoch_ms(User.objects.get(username="olga").date_joined),
        "last_sign_in_at_ms": epoch_ms(signed_in),
    }


def test_a_list_of_people_costs_as_many_queries_for_many_as_for_one(admin):
    admin.get("/a2a/people")  # notes the use of the key
    with CaptureQueriesContext(connection) as of_one:
        admin.get("/a2a/people")
    for name in "bcdef":
        factories.person(name, Role.VIEWER)
    with CaptureQueriesContext(connection) as of_six:
        assert len(admin.get("/a2a/people").json()["people"]) == 6

    assert len(of_six) == len(of_one)


def test_an_operator_adds_lists_and_revokes_a_public_route(alice, bob, olga):
    api = Api(olga)

    added = api.post("/a2a/routes", {"agent": "alice", "rate_limit": 7}).json()
    listed = api.get("/a2a/routes").json()

    token = added["url"].rpartition("/p/")[2]
    assert tokens.public_id(token, tokens.ROUTE) == added["public_id"]
    (route,) = listed["routes"]
    assert route.items() >= {"public_id": added["public_id"], "rate_limit": 7, "revoked_at_ms": None}.items()
    assert route["agent"]["display"] == "alice@local"
    assert token not in str(listed)

    assert api.post("/a2a/routes/revoke", {"public_id": added["public_id"]}).json() == {
        "kind": "a2a_route_revoked",
        "public_id": added["public_id"],
    }
    assert PublicRoute.objects.get().revoked_at is not None
    assert api.get("/a2a/routes").json()["routes"][0]["revoked_at_ms"] is not None


def test_a_public_route_without_a_rate_gets_that_of_the_setting(alice, olga, settings):
    settings.A2A_ROUTE_RATE_LIMIT_PER_MIN = 11

    Api(olga).post("/a2a/routes", {"agent": "alice"})

    assert PublicRoute.objects.get().rate_limit == 11


@pytest.mark.parametrize(
    ("body", "refusal"),
    [
        ({}, (400, "invalid_request")),
        ({"agent": "alice", "rate_limit": 0}, (400, "invalid_request")),
        ({"agent": "nobody"}, (404, "unknown_agent")),
        ({"agent": "scheduler@hub"}, (400, "invalid_request")),
    ],
)
def test_a_bad_public_route_is_refused(alice, olga, body, refusal):
    own_agent_setup.hub_row("scheduler@hub")

    assert error_of(Api(olga).post("/a2a/routes", body)) == refusal
    assert not PublicRoute.objects.exists()


def test_an_agent_is_read_with_its_pause_and_its_openness(alice, olga):
    grants.open_to_anyone(Caller.command_line(), factories.row_of(alice))
    api = Api(olga)
    before = api.get("/a2a/agents/alice").json()

    api.post("/a2a/agents/alice/pause", {"reason": "audit"})
    paused = Api(alice).get("/a2a/agents/alice@local").json()

    assert (before["kind"], before["agent"]["display"], before["is_open"]) == ("a2a_agent_entry", "alice@local", True)
    assert (before["paused_at_ms"], before["paused_reason"]) == (None, None)
    assert (paused["paused_at_ms"] is None, paused["paused_reason"]) == (False, "audit")
    assert error_of(api.get("/a2a/agents/nobody")) == (404, "unknown_agent")
