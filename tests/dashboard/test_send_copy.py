"""A copy of a finished task, sent by hand: its form, its journal row and the refusals."""

import re
from datetime import timedelta
from html import unescape
from uuid import uuid4

import pytest
from django.utils.html import escape

from dashboard import send
from mailbox.access.callers import Caller
from mailbox.life import results
from mailbox.models import Task
from mailbox.upkeep import erasure
from mailbox.words import json_text
from mailbox.words.kinds import Kind
from tests.dashboard.conftest import fields_of, path_of
from tests.support import factories
from tests.support.markup import squeezed

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

BLOCKS = [{"type": "text", "text": "<three> pages"}]


@pytest.fixture
def original(alice, bob):
    lease = factories.leased_task(
        alice,
        bob,
        intent_text="pay the invoice\n twice ",
        task_kind="payment",
        idempotency=factories.idempotent("inv-7"),
        work_timeout=timedelta(minutes=10),
        parent=uuid4(),
        metadata={"ticket": "INC-4412", "content": BLOCKS},
    )
    results.post_result(bob, factories.result_envelope(lease.task, status="error", error_message="no", content=[]))
    return Task.objects.get(pk=lease.task.pk)


def form_of(page):
    """Return what the form of a page sends, as its browser would."""
    tags = re.findall(r'<(input|textarea)\b([^>]*name="(\w+)"[^>]*)>([^<]*)', page.text)
    typed = {name: re.search(r'value="([^"]*)"', rest) for _, rest, name, _ in tags if "radio" not in rest}
    texts = {name: text.removeprefix("\n") for tag, _, name, text in tags if tag == "textarea"}
    chosen = re.search(r'value="(\w*)"\s+checked', page.text)
    found = {name: value[1] for name, value in typed.items() if value} | texts | fields_of(page)
    return {name: unescape(value) for name, value in found.items()} | {"duplicate_safety": chosen[1] if chosen else ""}


def test_a_copy_is_sent_with_a_key_of_its_own_and_journalled_with_the_original(ana, original):
    assert f'href="/ops/send/?copy={original.uuid}"' in ana.get(path_of(original)).text
    form = form_of(ana.get(f"/ops/send/?copy={original.uuid}"))

    sent = ana.post("/ops/send/", form, follow=True)

    copy = Task.objects.exclude(pk=original.pk).get()
    assert sent.redirect_chain == [(path_of(copy), 303)]
    same = ("recipient_id", "intent_text", "task_kind", "duplicate_safety", "work_timeout", "parent")
    assert [getattr(copy, name) for name in same] == [getattr(original, name) for name in same]
    assert json_text.loads(copy.metadata) == json_text.loads(original.metadata)
    assert re.fullmatch(r"inv-7-copy-[0-9a-f]{8}", copy.idempotency_key or "")
    assert (copy.sender.display, copy.source) == ("operators@hub", "user")
    journal = {row.task_id: row for row in factories.journal(Kind.TASK_SENT)}
    assert journal[copy.uuid].fields["copy_of"] == str(original.uuid)
    assert journal[copy.uuid].actor == "user:ana"
    assert "copy_of" not in journal[original.uuid].fields
    assert f'<dt>Copy of</dt> <dd> <a href="{path_of(original)}">' in squeezed(sent.text).replace("<dd><a", "<dd> <a")


def test_a_task_that_has_not_ended_cannot_be_copied(ana, alice, bob):
    task = factories.sent_task(alice, bob)

    page = ana.get(f"/ops/send/?copy={task.uuid}")

    assert (page.status_code, "Only finished tasks can be copied." in page.text) == (409, True)
    assert "?copy=" not in ana.get(path_of(task)).text


def test_a_form_that_names_a_task_without_an_end_sends_no_copy(ana, alice, bob):
    task = factories.sent_task(alice, bob)
    form = {"recipient": "bob", "intent_text": "report", "form_token": uuid4(), "copy_of": task.uuid}

    refused = ana.post("/ops/send/", form)
    unknown = ana.post("/ops/send/", form | {"copy_of": uuid4(), "form_token": uuid4()})

    assert (refused.status_code, unknown.status_code) == (422, 404)
    assert list(Task.objects.all()) == [task]


def test_an_erased_task_cannot_be_copied(ana, original):
    erasure.erase_task(Caller.command_line(), original.uuid, reason="asked for")

    page = ana.get(f"/ops/send/?copy={original.uuid}")

    assert (page.status_code, "was erased" in page.text) == (409, True)


def test_a_payload_with_hidden_fields_cannot_be_copied(ana, original, settings):
    settings.A2A_REDACTED_FIELDS = ["ticket"]

    page = ana.get(f"/ops/send/?copy={original.uuid}")

    assert (page.status_code, "fields that the dashboard hides" in page.text) == (409, True)
    assert "INC-4412" not in page.text


def test_a_payload_too_large_for_a_form_cannot_be_copied(ana, original, monkeypatch):
    monkeypatch.setattr(send, "LARGEST_COPY", 20)

    page = ana.get(f"/ops/send/?copy={original.uuid}")

    assert (page.status_code, "too large for a form" in page.text) == (409, True)


@pytest.mark.parametrize(("name", "status"), [("cd53", 400), ("cd530000-0000-4000-8000-000000000000", 404)])
def test_a_copy_of_an_unknown_task_is_explained(ana, name, status):
    assert ana.get("/ops/send/", {"copy": name}).status_code == status


def test_the_content_of_the_original_is_escaped_in_the_form(ana, original):
    page = ana.get(f"/ops/send/?copy={original.uuid}")

    assert "<three>" not in page.text
    assert escape("<three> pages") in page.text


def test_a_viewer_sees_what_a_copy_needs(vic, original):
    text = squeezed(vic.get(path_of(original)).text)

    assert 'Send a copy<span class="vh">: needs capability a2a.send' in text
    assert "?copy=" not in text
