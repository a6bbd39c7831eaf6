import pytest
from django.core.management.base import CommandError

from mailbox.access.credentials import public_routes
from mailbox.models import PublicRoute


def test_an_added_route_is_printed_once_as_a_base_url(a2a_json, cast, settings):
    settings.PUBLIC_URL = "https://hub.example"

    added = a2a_json("route", "add", "alice", "--json")

    base, _, token = added["url"].rpartition("/")
    assert list(added) == ["kind", "public_id", "url"]
    assert base == "https://hub.example/p"
    assert public_routes.recognise(token) == PublicRoute.objects.get()
    assert PublicRoute.objects.get().rate_limit == settings.A2A_ROUTE_RATE_LIMIT_PER_MIN


def test_the_readable_output_of_route_add_begins_with_the_url(a2a, cast):
    url, advice = a2a("route", "add", "alice", "--rate", 7).splitlines()

    assert public_routes.recognise(url.rpartition("/")[2]) is not None
    assert PublicRoute.objects.get().rate_limit == 7
    assert "never prints it again" in advice


def test_routes_are_listed_without_their_tokens(a2a, a2a_json, cast):
    first, second = (a2a_json("route", "add", name, "--json") for name in ("alice", "bob"))
    a2a("route", "revoke", first["public_id"])

    listed = a2a_json("route", "list", "--json")["routes"]
    lines = a2a("route", "list").splitlines()

    assert [one["agent"]["display"] for one in listed] == ["bob@local", "alice@local"]
    assert [line.split()[1:3] for line in lines] == [["bob@local", "live"], ["alice@local", "revoked"]]
    assert second["url"].rpartition("/")[2] not in str(listed) + str(lines)


def test_an_empty_list_of_routes_prints_a_notice(a2a):
    assert a2a("route", "list") == "(no routes)"


def test_a_revoked_route_no_longer_works(a2a, a2a_json, cast):
    added = a2a_json("route", "add", "alice", "--json")

    revoked = a2a_json("route", "revoke", added["public_id"], "--json")

    assert revoked == {"kind": "a2a_route_revoked", "public_id": added["public_id"]}
    assert public_routes.recognise(added["url"].rpartition("/")[2]) is None


def test_an_unknown_route_cannot_be_revoked(a2a, db):
    with pytest.raises(CommandError, match='No route has the public id "12345678"'):
        a2a("route", "revoke", "12345678")


def test_a_route_needs_a_registered_agent_and_a_valid_rate(a2a, cast):
    with pytest.raises(CommandError, match="No agent named"):
        a2a("route", "add", "nobody")
    with pytest.raises(CommandError, match="between 1 and"):
        a2a("route", "add", "alice", "--rate", 0)
