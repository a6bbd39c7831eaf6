"""The address of an agent in the official protocol, on its page, and the acts that open and close it."""

import json

import pytest

from agentcards import card_signing
from dashboard.base import sessions
from mailbox.access.agents import grants, own_agent_setup
from mailbox.access.callers import Role
from mailbox.access.own_agents import OPERATORS
from mailbox.words.kinds import Kind
from tests.dashboard.conftest import fields_of
from tests.support import factories, official

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

BOB = "/ops/agents/bob@local/"
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
def ada(sign_in):
    """The browser of an admin."""
    return sign_in("ada", Role.ADMIN)


@pytest.fixture
def agent(bob):
    return factories.row_of(bob)


def form(browser, act):
    return {"form_token": fields_of(browser.get(f"{BOB}{act}/"))["form_token"], "reason": "a demo"}


def test_the_page_of_an_agent_shows_its_card_as_clients_read_it(vic, agent, settings):
    settings.PUBLIC_URL = "https://hub.example"

    page = vic.get(BOB)

    official.verify(json.loads(page.context["official"]))
    assert "<code>https://hub.example/agents/bob@local/</code>" in page.text
    assert card_signing.key_id() in page.text


def test_the_card_on_the_page_is_escaped(ana, bob):
    factories.profile(bob, name=HOSTILE, description=HOSTILE)

    assert "<img" not in ana.get(BOB).text


def test_an_admin_opens_and_closes_an_agent_with_reasons(ada, agent):
    opened = ada.post(f"{BOB}open/", form(ada, "open"), follow=True)
    was_open = grants.is_open(agent)
    closed = ada.post(f"{BOB}close/", form(ada, "close"), follow=True)

    assert "is open to anyone. Callers need no key" in opened.text
    assert "Require a key…" in opened.text
    assert "requires an API key from every caller" in closed.text
    assert "Open to anyone…" in closed.text
    assert (was_open, grants.is_open(agent)) == (True, False)
    for kind in (Kind.AGENT_OPENED, Kind.AGENT_CLOSED):
        (event,) = factories.journal(kind)
        assert (event.actor, event.fields) == ("user:ada", {"display": "bob@local", "reason": "a demo"})
        assert event.request_id.startswith("form:")


@pytest.mark.parametrize("who", ["ana", "vic"])
@pytest.mark.parametrize("act", ["open", "close"])
def test_others_see_why_they_cannot_and_are_refused(request, who, act, agent):
    browser = request.getfixturevalue(who)

    assert "needs capability a2a.capabilities.grant" in browser.get(BOB).text
    assert browser.post(f"{BOB}{act}/", form(browser, act)).status_code == 403
    assert not grants.is_open(agent)


def test_a_form_that_is_sent_twice_opens_once(ada, agent):
    sent = form(ada, "open")
    ada.post(f"{BOB}open/", sent)
    ada.post(f"{BOB}close/", form(ada, "close"))

    again = ada.post(f"{BOB}open/", sent, follow=True)

    assert "was already submitted" in again.text
    assert not grants.is_open(agent)


def test_an_agent_that_is_open_already_is_not_opened_again(ada, agent):
    old = form(ada, "open")
    ada.post(f"{BOB}open/", form(ada, "open"))

    answer = ada.post(f"{BOB}open/", old)

    assert "is open to anyone already" in answer.text
    assert len(factories.journal(Kind.AGENT_OPENED)) == 1


def test_an_act_without_a_recent_proof_asks_for_the_password_and_keeps_the_form(ada, agent):
    sent = form(ada, "open")
    session = ada.session
    session[sessions.PROVED_AT] = 0
    session.save()

    asked = ada.post(f"{BOB}open/", sent)

    assert (asked.status_code, grants.is_open(agent)) == (403, False)
    assert 'name="proof_password"' in asked.text
    assert sent["form_token"] in asked.text


def test_an_agent_of_the_hub_itself_has_no_button(ada):
    own_agent_setup.hub_agent(OPERATORS)

    page = ada.get(f"/ops/agents/{OPERATORS}/").text

    assert "Open it to anyone" not in page
