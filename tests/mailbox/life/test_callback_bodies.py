"""Where a callback goes is judged by the verb, and what it says is rendered by the task's dialect."""

import json

import pytest

from mailbox import Mailbox
from mailbox.dialects.yeoman import wire
from mailbox.life import outbox, results, sending
from mailbox.models import PushDelivery, Task
from mailbox.words.envelopes import AgentRef, TaskEnvelope
from mailbox.words.errors import InvalidRequestError
from tests.support import factories

pytestmark = pytest.mark.django_db
URL = "http://example.org/hook"


@pytest.mark.parametrize("url", ["ftp://example.org/", "http://10.0.0.1/", "http://example.org:22/", "http://[", "x"])
def test_a_callback_that_the_hub_never_calls_is_refused_by_the_verb(alice, bob, url):
    with pytest.raises(InvalidRequestError) as refused:
        sending.send_task(alice, factories.task_envelope(bob, callback_url=url))

    assert set(refused.value.fields) == {"callback_url"}
    assert not Task.objects.exists()


def test_the_in_process_surface_refuses_it_too(alice, bob):
    envelope = TaskEnvelope(
        sender=AgentRef("alice"), recipient=AgentRef("bob"), intent_text="x", callback_url="ftp://x"
    )

    with pytest.raises(InvalidRequestError):
        Mailbox().send_task(envelope)

    assert not Task.objects.exists()


def test_a_dialect_with_a_renderer_writes_its_own_bodies_and_no_others(alice, bob, monkeypatch):
    monkeypatch.setitem(outbox.BODIES, "terse", lambda task, result: {"id": str(task.uuid), "says": result.status})

    _, result = (
        results.post_result(bob, factories.result_envelope(lease.task))
        for lease in (
            factories.leased_task(alice, bob, callback_url=URL, dialect=dialect) for dialect in ("terse", "mailbox")
        )
    )

    terse, usual = (json.loads(row.body) for row in PushDelivery.objects.order_by("pk"))
    assert terse.keys() == {"id", "says"}
    assert usual == wire.record(result.task, result)
