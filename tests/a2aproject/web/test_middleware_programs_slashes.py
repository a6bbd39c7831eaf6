"""Clients append a path to their base URL; some base URLs end in a slash."""

import json

import pytest
from django.test import Client

from mailbox.access.credentials import public_routes
from mailbox.words import tokens
from tests.support import factories, yeoman

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(alice):
    return Client(headers={"X-API-Key": factories.key_of(alice)}, raise_request_exception=False)


def get(client, path, **environment):
    return client.get("/", PATH_INFO=path, **environment)  # Django's client would read //a as the name of a host


@pytest.mark.parametrize("slashes", ["//", "///"])
@pytest.mark.parametrize(
    "path",
    [
        "a2a/tasks/recent",
        "a2a/registry",
        "a2a/inboxes/alice/tasks",
        "api/agents",
        "api/v1/a2a/capabilities",
        "api/v1/tasks",
        ".well-known/agent-card.json",
        ".well-known/a2a-agent",
        "capabilities/recent",
        "audit/recent",
        "api/schema/",
    ],
)
def test_several_leading_slashes_of_an_api_path_count_as_one(client, slashes, path):
    response = get(client, f"{slashes}{path}")

    assert response.status_code == 200
    assert "Location" not in response


def test_a_message_to_a_path_with_two_slashes_is_received(client):
    response = client.post("/", yeoman.envelope(), content_type="application/json", PATH_INFO=f"/{yeoman.RECEIVE}")

    assert response.json()["accepted"] is True


def test_the_query_string_stays(client, alice, bob):
    for _ in range(2):
        factories.sent_task(alice, bob)

    answer = get(client, "//a2a/tasks/recent", QUERY_STRING="limit=1").json()

    assert len(answer["tasks"]) == 1


def test_leading_slashes_do_not_expose_the_token_of_a_public_route(alice, bob, olga):
    route = public_routes.add(olga, alice.agent, rate_limit=100)
    client = Client(raise_request_exception=False)

    opened = get(client, f"//p/{route.token}//.well-known/a2a-agent")
    stranger = get(client, f"//p/{tokens.mint(tokens.ROUTE).key}/.well-known/a2a-agent")
    closed = get(client, f"//p/{route.token}/a2a/tasks/recent")

    assert (opened.status_code, stranger.status_code, closed.status_code) == (200, 404, 404)
    assert opened["Cache-Control"] == "private, no-store"
    assert route.token.encode() not in closed.content + opened.content


@pytest.mark.parametrize(
    "path",
    [
        *("//ops/", "//ops", "//admin/", "//admin/login/", "///ops/leases/", "//static/ops/ops.css"),
        *("//elsewhere.example/ops", "//elsewhere.example/%2e%2e", "//nowhere", "//", "//ops//elsewhere.example"),
        *("/a2a//tasks/recent", "/\\elsewhere.example", "//\\elsewhere.example"),
    ],
)
def test_other_paths_with_several_slashes_are_not_redirected(client, path):
    response = get(client, path, HTTP_ACCEPT="text/html")

    assert response.status_code == 404
    assert "Location" not in response


def test_a_task_can_be_read_at_a_path_with_two_slashes(client, alice, bob):
    task = factories.sent_task(alice, bob)
    path = f"/api/v1/tasks/{task.uuid}"

    assert json.loads(get(client, f"/{path}").content) == client.get(path).json()
