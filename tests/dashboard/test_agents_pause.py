"""Pausing and resuming an agent from its page. A form acts once, and only on the state that it showed."""

import pytest

from mailbox.access.agents import registration
from mailbox.models import Agent
from mailbox.words.kinds import Kind
from tests.dashboard.conftest import fields_of
from tests.support import factories
from tests.support.markup import squeezed

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

BOB = "/ops/agents/bob@local/"


def shown(browser):
    """Return the form that the page shows, as its browser would send it."""
    page = browser.get(BOB).text
    fields = fields_of(browser.get(BOB))
    assert page.count('name="act"') == 1
    return {name: fields[name] for name in ("form_token", "seen", "act")}


@pytest.fixture
def agent(bob):
    return factories.row_of(bob)


def test_an_agent_is_paused_and_resumed_with_reasons(ana, agent):
    paused = ana.post(BOB, {**shown(ana), "reason": "disk full"}, follow=True)
    resumed = ana.post(BOB, {**shown(ana), "reason": "disk freed"}, follow=True)

    assert "bob@local paused" in paused.text
    assert "disk full" in paused.text
    assert "bob@local resumed" in resumed.text
    (event,) = factories.journal(Kind.AGENT_RESUMED)
    assert event.fields == {"display": "bob@local", "reason": "disk freed", "was_paused_for": "disk full"}
    assert event.request_id.startswith("form:")


def test_a_form_sent_twice_pauses_the_agent_once(ana, agent):
    old = {**shown(ana), "reason": "disk full"}
    ana.post(BOB, old)
    ana.post(BOB, {**shown(ana), "reason": "disk freed"})

    again = ana.post(BOB, old, follow=True)

    assert "was already submitted" in again.text
    assert again.redirect_chain == [(BOB, 303)]
    assert Agent.objects.get(pk=agent.pk).paused_at is None
    assert len(factories.journal(Kind.AGENT_PAUSED)) == 1


def test_the_second_operator_replaces_no_pause_and_sees_its_reason(ana, ben, agent):
    first, second = shown(ana), shown(ben)
    ana.post(BOB, {**first, "reason": "disk full"})

    refused = ben.post(BOB, {**second, "reason": "looks dead"})

    assert refused.status_code == 409
    assert "the agent was paused after you opened this page" in squeezed(refused.text)
    assert "disk full" in refused.text
    assert 'value="looks dead"' in refused.text
    assert 'name="act" value="resume"' in refused.text
    assert Agent.objects.get(pk=agent.pk).paused_reason == "disk full"
    assert len(factories.journal(Kind.AGENT_PAUSED)) == 1


def test_an_old_form_does_not_resume_a_pause_made_since(ana, ben, olga, agent):
    registration.pause_agent(olga, agent, reason="disk full")
    old = shown(ana)
    ben.post(BOB, {**shown(ben), "reason": "disk freed"})
    ben.post(BOB, {**shown(ben), "reason": "disk full again"})

    refused = ana.post(BOB, {**old, "reason": "disk freed"})

    assert refused.status_code == 409
    assert Agent.objects.get(pk=agent.pk).paused_reason == "disk full again"


@pytest.mark.parametrize("act", ["junk", "", None])
def test_a_form_with_an_unknown_action_changes_nothing(ana, agent, act):
    form = {**shown(ana), "reason": "disk full", "act": act}

    assert ana.post(BOB, {name: value for name, value in form.items() if value is not None}).status_code == 400
    assert Agent.objects.get(pk=agent.pk).paused_at is None


def test_pausing_an_agent_shown_as_paused_changes_nothing(ana, olga, agent):
    registration.pause_agent(olga, agent, reason="disk full")

    refused = ana.post(BOB, {**shown(ana), "act": "pause", "reason": "looks dead"})

    assert refused.status_code == 409
    assert Agent.objects.get(pk=agent.pk).paused_reason == "disk full"


def test_a_pause_without_a_reason_is_refused(ana, agent):
    refused = ana.post(BOB, {**shown(ana), "reason": "  "})

    assert refused.status_code == 422
    assert "Enter a reason" in refused.text
    assert Agent.objects.get(pk=agent.pk).paused_at is None
