"""Erased text is in no table, and pages and the API still show erased tasks and journal rows."""

import pytest
from django.apps import apps

from agentcards import profiles, secrets
from mailbox.access.callers import Caller, Role
from mailbox.life import leasing, sending, updates
from mailbox.models import AuditEvent
from mailbox.upkeep import erasure
from mailbox.words.conversation import Update
from tests.support import factories
from tests.support.api import Api

pytestmark = pytest.mark.django_db

SECRET = "the secret text"
CLI = Caller.command_line()


@pytest.fixture
def erased(alice, bob):
    """A task that was released, updated and cancelled before it was erased with all that its parties left."""
    profiles.update_profile(CLI, alice.agent, {"description": SECRET})
    task = factories.leased_task(alice, bob, intent_text=SECRET).task
    leasing.release(bob, task.uuid, reason=SECRET)
    leasing.lease_tasks(bob)
    updates.post_updates(bob, task.uuid, [Update(message=[{"type": "text", "text": SECRET}], progress=0.5, note="x")])
    sending.cancel(alice, task.uuid, reason=SECRET)
    erasure.erase_agent(CLI, alice.agent, reason="asked for")
    secrets.erase_cards(CLI, alice.agent, reason="asked for")
    return task


def test_every_page_shows_an_erased_task(erased, sign_in):
    olga = sign_in("olga", Role.OPERATOR)
    rows = [f"/ops/audit/{row.pk}/" for row in AuditEvent.objects.all()]
    task = f"/ops/tasks/{erased.uuid}/"
    pages = [
        task,
        f"/ops/tasks/{erased.uuid}/json",
        "/ops/tasks/",
        "/ops/results/",
        "/ops/audit/",
        "/ops/agents/alice@local/",
        *rows,
    ]

    shown = {page: olga.get(page) for page in pages}

    assert {page: answer.status_code for page, answer in shown.items() if answer.status_code != 200} == {}
    assert not any(SECRET in "".join(part.decode() for part in answer) for answer in shown.values())


def test_both_parties_read_an_erased_task(erased, alice, bob):
    task = f"/a2a/tasks/{erased.uuid}"
    answers = [
        Api(one).get(path) for one in (alice, bob) for path in (f"{task}/entry", f"{task}/timeline", f"{task}/tree")
    ]

    assert {answer.status_code for answer in answers} == {200}
    assert not any(SECRET in answer.text for answer in answers)


def test_no_table_has_the_text_of_an_erased_agent(erased):
    rows = [row for model in apps.get_models() for row in model._default_manager.values()]

    assert [row for row in rows if SECRET in str(row)] == []
