"""Browsers ask with OPTIONS before their request, also under a public route."""

import pytest

from mailbox.access.credentials import public_routes
from mailbox.dialects.corvid.views import HubCardView

pytestmark = pytest.mark.django_db


@pytest.fixture
def route(alice, bob, olga):
    return public_routes.add(olga, alice.agent, rate_limit=1000)


@pytest.mark.parametrize(
    "path", ["/a2a/tasks/send", "/a2a/tasks/x", "/.well-known/agent-card.json", "/.well-known/agents/bob"]
)
def test_options_are_answered_under_a_route_as_without_it(client, route, path):
    under_route, without = (client.options(prefix + path) for prefix in (f"/p/{route.token}", ""))

    assert (under_route.status_code, under_route.content) == (without.status_code, without.content) == (204, b"")
    assert under_route["Allow"] == without["Allow"]


@pytest.mark.parametrize("path", ["/.well-known/agent-card.json", "/.well-known/agents/bob"])
def test_a_browser_may_request_a_card_under_a_route_from_another_site(client, route, path):
    under_route, without = (client.options(prefix + path) for prefix in (f"/p/{route.token}", ""))

    headers = ("Access-Control-Allow-Origin", "Access-Control-Allow-Methods", "Access-Control-Allow-Headers")
    assert [under_route[name] for name in headers] == [without[name] for name in headers]


def test_options_are_refused_where_no_method_is_open_to_routes(client, route, monkeypatch):
    monkeypatch.setattr(HubCardView, "open_to_routes", frozenset())

    assert client.options(f"/p/{route.token}/.well-known/agent-card.json").status_code == 404
