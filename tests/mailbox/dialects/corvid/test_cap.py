"""The cap of tasks/send: a send drops only its own sender's tasks, and only those whose result has reached it."""

import pytest
from django.db import OperationalError

from mailbox.dialects.corvid import handler
from mailbox.life import results
from mailbox.models import Task
from mailbox.upkeep import compaction
from mailbox.words.errors import CapabilityMissingError
from tests.support import factories
from tests.support.api import Api

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("default_agent")]

INVOKE = "/api/agents/bob/invoke"


@pytest.fixture(autouse=True)
def cap(settings):
    settings.A2A_TASKS_SEND_CAP = 2


def answered(sender, recipient):
    task = factories.leased_task(sender, recipient, dialect="corvid").task
    return results.post_result(recipient, factories.result_envelope(task)).task


def drained(sender, recipient):
    task = answered(sender, recipient)
    results.drain_results(sender)
    return task


def send(caller):
    return handler.handle_task_send(caller, {"params": {"message": "do it"}})


def test_a_refused_request_drops_no_result_of_another_agent(alice, bob, mallory):
    delivered = [drained(alice, bob) for _ in range(3)]
    undelivered = [answered(alice, bob) for _ in range(3)]

    refused = Api(mallory).post(INVOKE, {"content": "drop them"})
    with pytest.raises(CapabilityMissingError):
        send(mallory)

    assert refused.status_code == 403
    assert set(Task.objects.all()) == {*undelivered, *delivered}


@pytest.mark.parametrize("by_sender", [True, False])
def test_only_a_poll_of_the_sender_shows_a_result(alice, bob, by_sender):
    polled = answered(alice, bob)
    handler.handle_task_get(alice if by_sender else bob, polled.uuid)

    for _ in range(3):
        send(alice)

    assert Task.objects.filter(pk=polled.pk).exists() is not by_sender


def test_a_task_that_was_stored_is_answered_even_if_the_drop_fails(alice, monkeypatch):
    def fail(*_: object, **__: object) -> int:
        raise OperationalError("database is locked")

    monkeypatch.setattr(compaction, "cap_sent", fail)

    assert send(alice)["id"] == Task.objects.get().uuid


@pytest.mark.parametrize("path", [INVOKE, "/a2a/tasks/send"])
def test_both_ways_to_send_share_one_rate_limit(alice, settings, path):
    settings.A2A_INBOUND_RATE_LIMIT_PER_MIN = 2
    bodies = {INVOKE: {"content": "do it"}, "/a2a/tasks/send": {"params": {"message": "do it"}}}

    client = Api(alice)

    sent = [client.post(each, body).status_code for each, body in bodies.items()]
    refused = client.post(path, bodies[path])

    assert sent == [201, 200]
    assert refused.status_code == 429
    assert refused.json() == {"error": "Rate limit exceeded. Try again later."}
    assert int(refused.headers["Retry-After"]) > 0
    assert Task.objects.count() == 2
