import base64
import hashlib
import hmac
import json
from datetime import timedelta
from uuid import uuid4

import pytest

from mailbox import Mailbox
from mailbox.access.callers import Caller
from mailbox.dialects.covenant import repair_wire
from mailbox.inspection import lists
from mailbox.life import outbox, results, sending
from mailbox.models import PushConfig, PushDelivery
from mailbox.words import secret_box
from mailbox.words.envelopes import AgentRef, ResultStatus
from mailbox.words.errors import CapabilityMissingError, InvalidRequestError, TaskConflictError, UnknownDeliveryError
from mailbox.words.kinds import Kind
from tests.support import factories
from tests.support.api import Api
from tests.support.callback_rounds import deliver_due
from tests.support.receiver import receiver
from tests.support.yeoman import Peer

pytestmark = pytest.mark.django_db
SECRET = "shared secret with ü"
State = PushDelivery.State


@pytest.fixture(autouse=True)
def _outside(loopback):
    """Receivers listen on the loopback."""


def resolved(alice, bob, url, *, secret=SECRET, **fields):
    lease = factories.leased_task(alice, bob, callback_url=url, callback_secret=secret)
    return results.post_result(bob, factories.result_envelope(lease.task, **fields)).task


def failing(alice, bob):
    """Return a delivery to a port on which no server listens."""
    resolved(alice, bob, "http://127.0.0.77:9009/hook")
    return PushDelivery.objects.get()


def test_a_callback_is_stored_when_its_task_ends_and_not_before(alice, bob):
    lease = factories.leased_task(alice, bob, callback_url="http://example.org/hook")
    assert not PushDelivery.objects.exists()

    results.post_result(bob, factories.result_envelope(lease.task))

    written = PushDelivery.objects.get()
    assert (written.state, written.attempts, written.task_uuid) == (State.PENDING, 0, lease.task.uuid)


def test_a_task_without_a_callback_stores_no_delivery(alice, bob):
    factories.resolved_task(alice, bob)

    assert not PushDelivery.objects.exists()


def test_a_cancelled_task_calls_back_too(alice, bob):
    task = factories.sent_task(alice, bob, callback_url="http://example.org/hook")

    sending.cancel(alice, task.uuid)

    assert json.loads(PushDelivery.objects.get().body)["status"] == "cancelled"


def test_an_answer_from_the_cache_calls_back_too(alice, bob):
    same = factories.idempotent("once")
    lease = factories.leased_task(alice, bob, idempotency=same)
    results.post_result(bob, factories.result_envelope(lease.task))

    duplicate = factories.sent_task(alice, bob, idempotency=same, callback_url="http://example.org/hook")

    assert PushDelivery.objects.get().task_uuid == duplicate.uuid


def test_the_receiver_gets_the_stored_bytes_with_both_signatures(alice, bob):
    with receiver() as seen:
        task = resolved(alice, bob, seen.url)

        assert deliver_due() == 1

    ((headers, body),) = seen.calls
    told = json.loads(body)
    assert told["task_id"] == str(task.uuid)
    assert told["status"] == "completed"
    assert told["result"] == {"content": factories.SOME_TEXT}
    key = SECRET.encode()
    assert headers["X-Signature"] == "sha256=" + hmac.new(key, body, hashlib.sha256).hexdigest()
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{expected}"
    assert PushDelivery.objects.get().state == State.DELIVERED
    assert deliver_due() == 0


def test_a_secret_of_standard_webhooks_is_a_key_in_base64(alice, bob):
    key = bytes(range(32))
    secret = f"whsec_{base64.b64encode(key).decode()}"
    with receiver() as seen:
        resolved(alice, bob, seen.url, secret=secret)
        deliver_due()

    ((headers, body),) = seen.calls
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{expected}"
    assert headers["X-Signature"] == "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


@pytest.mark.parametrize("status", [ResultStatus.PARTIAL, ResultStatus.ERROR])
def test_a_callback_has_the_body_that_a_poll_answers(alice, bob, status):
    task = resolved(alice, bob, "http://example.org/hook", status=status, error_message="no ink")

    told = json.loads(PushDelivery.objects.get().body)

    assert told == Peer(alice).get(f"/api/tasks/{task.uuid}").json()
    assert told["result"]["content"] == factories.SOME_TEXT


def test_without_a_secret_nothing_is_signed(alice, bob):
    with receiver() as seen:
        resolved(alice, bob, seen.url, secret=None, status=ResultStatus.ERROR, content=[], error_message="no ink")
        deliver_due()

    ((headers, body),) = seen.calls
    assert "X-Signature" not in headers
    assert "webhook-signature" not in headers
    assert json.loads(body)["result"] == {"error": "no ink"}


def test_a_failed_attempt_waits_longer_each_time_and_then_is_disabled(alice, bob, time_machine):
    time_machine.move_to("2026-01-01T00:00:00Z", tick=False)
    row = failing(alice, bob)
    waited = []

    for _ in range(6):
        assert deliver_due() == 1
        assert deliver_due() == 0
        row.refresh_from_db()
        waited.append((row.next_attempt_at - row.created_at).total_seconds())
        time_machine.move_to(row.next_attempt_at, tick=False)

    assert row.state == State.DISABLED
    assert waited[:5] == [1, 6, 36, 336, 3936]
    assert [one.number for one in row.log.order_by("number")] == [1, 2, 3, 4, 5, 6]
    assert all(one.status is None and one.problem for one in row.log.all())
    assert deliver_due() == 0


def test_a_receiver_gets_the_same_id_and_bytes_at_each_attempt(alice, bob, time_machine):
    time_machine.move_to("2026-01-01T00:00:00Z", tick=False)
    with receiver() as seen:
        seen.statuses = [500, 500, 500]
        resolved(alice, bob, seen.url)
        for _ in range(4):
            deliver_due()
            time_machine.shift(timedelta(minutes=1))

    row = PushDelivery.objects.get()
    assert row.state == State.DELIVERED
    assert len({(headers["webhook-id"], body) for headers, body in seen.calls}) == 1
    assert [(one.status, bool(one.problem)) for one in row.log.order_by("number")] == [
        (500, True),
        (500, True),
        (500, True),
        (200, False),
    ]


def test_a_private_address_is_refused_and_the_reason_is_logged(alice, bob, settings):
    with receiver() as seen:
        resolved(alice, bob, seen.url)
        settings.A2A_OUTBOUND_ALLOW = []
        deliver_due()

    assert seen.calls == []
    (shown,) = lists.deliveries(Caller.command_line()).items
    assert "Blocked URL" in shown.log.get().problem


def test_a_resend_makes_a_disabled_delivery_due_with_all_its_attempts(alice, bob, olga, time_machine):
    time_machine.move_to("2026-01-01T00:00:00Z", tick=False)
    row = failing(alice, bob)
    PushDelivery.objects.update(state=State.DISABLED, attempts=6)

    outbox.resend(olga, row.delivery_id, reason="the receiver is back")
    deliver_due()

    row.refresh_from_db()
    assert row.state == State.PENDING
    assert row.next_attempt_at - row.created_at == timedelta(seconds=1)
    (event,) = factories.journal(Kind.PUSH_RESENT)
    assert event.fields["reason"] == "the receiver is back"
    assert event.actor == "user:olga"


def test_a_resend_needs_a_reason_a_delivery_and_the_capability(alice, bob, olga):
    row = failing(alice, bob)

    with pytest.raises(InvalidRequestError):
        outbox.resend(olga, row.delivery_id, reason=" ")
    with pytest.raises(CapabilityMissingError):
        outbox.resend(alice, row.delivery_id, reason="please")
    with pytest.raises(UnknownDeliveryError):
        outbox.resend(olga, uuid4(), reason="please")


def test_secrets_are_encrypted_at_rest_and_shown_by_no_read(alice, bob):
    row = failing(alice, bob)

    stored = [row.sealed_secret, PushConfig.objects.get().sealed_secret]

    assert all(SECRET not in sealed for sealed in stored)
    assert [secret_box.unseal(sealed) for sealed in stored] == [SECRET, SECRET]
    rendered = repair_wire.delivery(row, alice)
    assert rendered["signed"] is True
    assert not any(sealed in str(rendered) for sealed in (SECRET, row.sealed_secret))


def test_a_callback_secret_survives_a_rotated_key_but_not_a_lost_one(alice, bob, settings):
    row = failing(alice, bob)
    old = settings.SECRET_KEY

    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "a new key", [old]
    assert secret_box.unseal(row.sealed_secret) == SECRET

    settings.SECRET_KEY_FALLBACKS = []
    deliver_due()
    assert "SECRET_KEY" in row.log.get().problem


@pytest.mark.parametrize(
    "url", ["ftp://example.org/x", "example.org", "http://", "http://u:p@example.org/", "http://[::1", "https://x:0/"]
)
def test_a_callback_that_cannot_be_made_is_refused_at_send(alice, bob, url):
    with pytest.raises(InvalidRequestError, match="callback_url"):
        factories.sent_task(alice, bob, callback_url=url)

    assert not PushConfig.objects.exists()


@pytest.mark.parametrize(
    ("callback", "problem"),
    [
        ({"callback_secret": "s"}, "needs a callback_url"),
        ({"callback_url": "http://a.example/", "callback_secret": "whsec_?"}, "base64"),
        ({"callback_url": "http://a.example/", "callback_secret": "whsec_"}, "base64"),
        ({"callback_url": "http://a b/"}, "http or https"),
        ({"callback_url": "http://a.example/\r\n"}, "http or https"),
    ],
)
def test_an_invalid_callback_is_refused_at_send(alice, bob, callback, problem):
    with pytest.raises(InvalidRequestError, match=problem):
        factories.sent_task(alice, bob, **callback)


@pytest.mark.parametrize(
    "url", ["http://10.0.0.1/?t=token", "http://0x7f000001/", "https://hub.local/", "http://a.b:22/"]
)
def test_a_callback_to_a_blocked_url_is_refused_at_every_door(alice, bob, url):
    envelope = factories.task_envelope(bob, sender=AgentRef(alice.agent.display), callback_url=url)
    body = {"recipient": bob.agent.display, "intent_text": "x", "callback_url": url}

    with pytest.raises(InvalidRequestError, match="Blocked URL"):
        Mailbox().send_task(envelope)
    response = Api(alice).post("/a2a/tasks", body)

    assert (response.status_code, list(response.json()["fields"])) == (400, ["callback_url"])
    assert "token" not in response.text


def test_a_repeat_with_another_callback_is_another_task(alice, bob):
    task = factories.sent_task(alice, bob, id=uuid4(), callback_url="http://a.example/", callback_secret="s")
    same = {"id": task.uuid, "callback_url": "http://a.example/", "callback_secret": "s"}

    assert factories.sent_task(alice, bob, **same) == task
    for changed in ({"callback_secret": "t"}, {"callback_url": "http://b.example/"}, {"callback_secret": None}):
        with pytest.raises(TaskConflictError):
            factories.sent_task(alice, bob, **(same | changed))


def test_senders_see_only_their_own_deliveries(alice, bob, mallory, olga):
    row = failing(alice, bob)

    assert [one.pk for one in lists.deliveries(alice).items] == [row.pk]
    assert lists.deliveries(mallory).items == []
    assert [one.pk for one in lists.deliveries(olga).items] == [row.pk]
