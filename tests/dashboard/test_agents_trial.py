"""The form on the page of an agent that sends it a task from the operators."""

import re

import pytest

from mailbox.life import leasing, results
from mailbox.models import Task
from mailbox.words.kinds import Kind
from tests.support import factories
from tests.support.markup import squeezed

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

PATH = "/ops/agents/bob@local/"


def trial(page):
    """Return the address and the hidden fields of the form, as a browser would send them."""
    (form,) = re.findall(r'<form[^>]*id="trial".*?</form>', page.text, re.DOTALL)
    fields = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', form)
    (action,) = re.findall(r'action="([^"]+)"', form)
    return action, dict(fields)


def test_a_trial_sends_a_task_and_leads_to_its_answer(ana, bob):
    action, fields = trial(ana.get(PATH))

    sent = ana.post(action, {**fields, "intent_text": "hello  there"}, follow=True)

    task = Task.objects.get()
    assert sent.redirect_chain == [(f"/ops/tasks/{task.uuid}/", 303)]
    assert (task.sender.display, task.recipient.display, task.intent_text) == (
        "operators@hub",
        "bob@local",
        "hello  there",
    )
    assert factories.journal(Kind.TASK_SENT)[0].actor == "user:ana"
    (lease,) = leasing.lease_tasks(bob)
    results.post_result(bob, factories.result_envelope(lease.task))
    assert 'id="result"' in ana.get(f"/ops/tasks/{task.uuid}/").text


def test_a_trial_without_text_is_explained_on_the_page_for_sending(ana, bob):
    action, fields = trial(ana.get(PATH))

    response = ana.post(action, {**fields, "intent_text": " "})

    assert response.status_code == 422
    assert 'value="bob@local"' in response.text
    assert not Task.objects.exists()


def test_a_trial_posted_twice_sends_one_task(ana, bob):
    action, fields = trial(ana.get(PATH))

    for _ in range(2):
        ana.post(action, {**fields, "intent_text": "hello"})

    assert Task.objects.count() == 1


def test_a_viewer_is_told_what_a_trial_needs(vic, bob):
    text = squeezed(vic.get(PATH).text)

    assert 'Send a test task</dt> <dd class="mut">needs capability a2a.send' in text


def test_an_agent_of_the_hub_has_no_trial(ana, bob):
    action, fields = trial(ana.get(PATH))
    ana.post(action, {**fields, "intent_text": "hello"})

    assert 'id="trial"' not in ana.get("/ops/agents/operators@hub/").text


def test_the_two_forms_of_an_agent_share_no_id(ana, bob):
    ids = re.findall(r'\sid="([^"]+)"', ana.get(PATH).text)

    assert len(ids) == len(set(ids))
