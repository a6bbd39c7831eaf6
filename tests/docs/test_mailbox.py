"""The page of differences from Covenant states the hub's limits, messages and routes as they are."""

import re

import pytest
from django.test import Client
from django.urls import resolve

from mailbox.access.agents import grants
from mailbox.access.callers import Caller
from mailbox.repairs.auto_retry import LONGEST_INTERVAL
from mailbox.repairs.repair import MESSAGE_MAX_LENGTH
from mailbox.words import tokens
from mailbox.words.envelopes import DISPLAY_MAX_LENGTH, KEY_MAX_LENGTH, MAX_DEADLINE_MS
from mailbox.words.errors import InvalidRequestError
from mailbox.words.push import URL_MAX_LENGTH
from tests.support import factories, pages
from tools.lint.pages import section

PAGE = pages.page("docs/protocols/mailbox.md")


@pytest.mark.one_database
def test_the_limits_are_the_codes() -> None:
    lengths = re.search(r"^\| No text has a length limit.*", PAGE, re.MULTILINE)

    assert lengths
    assert re.findall(r"(?:most|`callback_url`|`force_error`) (\d[\d,]*\d)", lengths[0]) == [
        f"{limit:,}" for limit in (DISPLAY_MAX_LENGTH, KEY_MAX_LENGTH, URL_MAX_LENGTH, MESSAGE_MAX_LENGTH)
    ]
    assert MAX_DEADLINE_MS == 2**63 - 1
    assert "0 to 2^63-1" in PAGE
    assert f"More than {LONGEST_INTERVAL.days} days" in PAGE


@pytest.mark.django_db
@pytest.mark.parametrize(
    "headers",
    [{}, {"Authorization": "Token x"}, {"X-API-Key": "x"}, {"X-API-Key": tokens.mint().key}],
    ids=["no key", "another scheme", "no key of a hub", "an unknown key"],
)
def test_the_messages_of_a_401_are_the_hubs(client: Client, headers: dict[str, str]) -> None:
    answer = client.get("/a2a/tasks/recent", headers=headers)

    assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")
    assert f'"{answer.json()["message"]}"' in PAGE


@pytest.mark.one_database
def test_each_request_of_the_socket_has_a_route() -> None:
    routes = re.findall(r"^\| `\w+` \| `(GET|POST) (/\S+)` \|$", section(PAGE, "Instead of IPC"), re.MULTILINE)

    assert len(routes) == 10
    assert all(hasattr(resolve(path).func.view_class, method.lower()) for method, path in routes)  # type: ignore[attr-defined]


@pytest.mark.django_db
@pytest.mark.parametrize("field", ["peer_pubkey_b58", "task_id", "lease_id"])
def test_a_null_field_of_a_scope_is_refused(field: str) -> None:
    agent = factories.AgentFactory.create()

    with pytest.raises(InvalidRequestError) as refused:
        grants.grant(Caller.command_line(), agent, "a2a.send.*", scope={"version": 1, field: None})

    assert list(refused.value.fields) == [f"scope.{field}"]
    assert "A null field is refused." in PAGE
