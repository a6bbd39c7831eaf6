"""Webhooks of tasks: who may set them, and what no read shows."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from mailbox.access.callers import Caller
from mailbox.background.courier import Courier
from mailbox.dialects.covenant import repair_wire
from mailbox.life import outbox, push_configs, results, updates
from mailbox.models import PushConfig, PushDelivery
from mailbox.upkeep import compaction, erasure
from mailbox.upkeep.compaction import Retention
from mailbox.words import secret_box
from mailbox.words.conversation import Update
from mailbox.words.errors import InvalidRequestError, UnknownTaskError
from mailbox.words.kinds import Kind
from mailbox.words.push import PushProtocol, PushTarget
from tests.support import factories
from tests.support.callback_rounds import deliver_due
from tests.support.factories import text
from tests.support.receiver import receiver
from tests.support.webhook_rounds import leased, sent, tell_all, told, webhook

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loopback")]
AT_ONCE = Retention(acked=timedelta(0), delivered=timedelta(0))
URL = "https://hooks.example/a2a?key=t0ken"


def target(**fields):
    return PushTarget(**{"url": URL, **fields})


def test_a_webhook_is_stored_and_journalled_by_its_receiver_alone(alice, bob):
    task = sent(alice, bob)

    config = webhook(alice, task, URL, config_id="mine")

    assert (config.config_id, config.protocol, config.position) == ("mine", "1.0", (1, 2))
    (event,) = factories.journal(Kind.PUSH_CONFIG_SET)
    assert event.fields == {"config_id": "mine", "receiver": "https://hooks.example:443"}
    assert (event.task_id, event.seq) == (task.uuid, None)


def test_the_hub_chooses_an_id_where_the_sender_gives_none(alice, bob):
    task = sent(alice, bob)

    ids = {webhook(alice, task, URL).config_id for _ in range(2)}

    assert len(ids) == 2


def test_secrets_are_encrypted_at_rest_and_shown_by_no_read(alice, bob):
    task = sent(alice, bob)
    config = webhook(alice, task, URL, token="t0k3n", auth_scheme="Bearer", auth_credentials="s3cret")

    stored = PushConfig.objects.get()
    sealed = [stored.sealed_token or "", stored.sealed_credentials or ""]
    assert [secret_box.unseal(one) for one in sealed] == ["t0k3n", "s3cret"]
    assert "s3cret" not in str(vars(stored)) + repr(target(auth_scheme="Bearer", auth_credentials="s3cret"))
    assert push_configs.config_of(alice, task.uuid, config.config_id, recipient=bob.agent) == config


def test_to_set_a_webhook_again_replaces_it_and_keeps_what_is_left_to_tell(alice, bob):
    with receiver() as dead, receiver() as hook:
        dead.statuses = [500] * 10
        task = leased(alice, bob).task
        config = webhook(alice, task, dead.url, config_id="mine", token="old")
        updates.post_updates(bob, task.uuid, [Update(message=text("one"))])
        deliver_due()
        PushConfig.objects.update(disabled_at=timezone.now(), next_attempt_at=None, failures=6)
        PushDelivery.objects.update(state=PushDelivery.State.DISABLED)

        again = webhook(alice, task, hook.url, config_id="mine")
        assert tell_all() == 1

    assert told(hook) == ["WORKING: one"]
    assert (again.pk, again.failures, again.disabled_at, again.sealed_token) == (config.pk, 0, None, None)
    assert PushDelivery.objects.get().state == PushDelivery.State.DELIVERED


def test_a_deleted_webhook_is_told_nothing_more(alice, bob):
    with receiver() as hook:
        task = leased(alice, bob).task
        webhook(alice, task, hook.url, config_id="mine")
        updates.post_updates(bob, task.uuid, [Update(message=text("one"))])
        tell_all()
        updates.post_updates(bob, task.uuid, [Update(message=text("two"))])

        for _ in range(2):
            push_configs.delete_config(alice, task.uuid, "mine", recipient=bob.agent)
        assert tell_all() == 0

    assert len(factories.journal(Kind.PUSH_CONFIG_DELETED)) == 1
    (delivered,) = PushDelivery.objects.all()
    assert (delivered.config, delivered.state) == (None, "delivered")


def test_a_webhook_deleted_during_an_attempt_is_not_told_again(alice, bob):
    with receiver() as hook:
        task = leased(alice, bob).task
        webhook(alice, task, hook.url, config_id="mine")
        updates.post_updates(bob, task.uuid, [Update(message=text("one"))])
        courier = Courier()
        assert courier.look_around() == 1
        push_configs.delete_config(alice, task.uuid, "mine", recipient=bob.agent)
        courier.finish()

    assert not PushDelivery.objects.exists()
    assert tell_all() == 0


@pytest.mark.parametrize("who", ["bob", "mallory", "olga"])
def test_only_the_sender_of_a_task_of_the_protocol_has_its_webhooks(alice, bob, mallory, olga, who):
    task = sent(alice, bob)
    config = webhook(alice, task, URL)
    caller = {"bob": bob, "mallory": mallory, "olga": olga}[who]

    for attempt in (
        lambda: push_configs.set_config(caller, task.uuid, target(), recipient=bob.agent),
        lambda: push_configs.delete_config(caller, task.uuid, config.config_id, recipient=bob.agent),
        lambda: push_configs.config_of(caller, task.uuid, config.config_id, recipient=bob.agent),
        lambda: push_configs.page_of_configs(caller, task.uuid, recipient=bob.agent),
    ):
        with pytest.raises(UnknownTaskError) as raised:
            attempt()
        assert raised.value.message == UnknownTaskError.of(task.uuid).message


def test_a_task_of_another_recipient_or_dialect_is_not_there(alice, bob, mallory):
    task, other = sent(alice, bob), factories.sent_task(alice, bob)

    for task_id, recipient in ((task.uuid, mallory), (other.uuid, bob), (uuid4(), bob)):
        with pytest.raises(UnknownTaskError):
            push_configs.set_config(alice, task_id, target(), recipient=recipient.agent)


def test_a_task_has_at_most_twenty_webhooks(alice, bob):
    task = sent(alice, bob)
    for number in range(20):
        webhook(alice, task, URL, config_id=f"n{number}")

    with pytest.raises(InvalidRequestError, match="at most 20"):
        webhook(alice, task, URL)
    assert webhook(alice, task, URL, config_id="n3").config_id == "n3"


def test_webhooks_are_listed_in_pages(alice, bob):
    task = sent(alice, bob)
    for number in range(3):
        webhook(alice, task, URL, config_id=f"n{number}")

    first = push_configs.page_of_configs(alice, task.uuid, recipient=bob.agent, limit=2)
    rest = push_configs.page_of_configs(alice, task.uuid, recipient=bob.agent, limit=2, cursor=first.next_cursor)

    assert [config.config_id for config in [*first.items, *rest.items]] == ["n0", "n1", "n2"]
    assert rest.next_cursor is None
    with pytest.raises(InvalidRequestError, match="cursor"):
        push_configs.page_of_configs(alice, sent(alice, bob).uuid, recipient=bob.agent, cursor=first.next_cursor)


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"url": "ftp://a.example/"}, "url"),
        ({"url": "http://10.0.0.1/"}, "url"),
        ({"url": "https://u:p@a.example/"}, "url"),
        ({"url": "https://a.example/" + "x" * 2000}, "url"),
        ({"url": 3}, "url"),
        ({"config_id": " "}, "config_id"),
        ({"config_id": "x" * 201}, "config_id"),
        ({"token": "a\r\nHost: b"}, "token"),
        ({"token": ""}, "token"),
        ({"auth_scheme": "Bea rer"}, "auth_scheme"),
        ({"auth_scheme": "Bearer", "auth_credentials": "a\nb"}, "auth_credentials"),
        ({"auth_scheme": "Bearer", "auth_credentials": "é"}, "auth_credentials"),
        ({"auth_credentials": "x"}, "auth_credentials"),
        ({"protocol": "2.0"}, "protocol"),
    ],
)
def test_a_bad_target_is_refused_by_its_path(alice, bob, fields, path):
    task = sent(alice, bob)

    with pytest.raises(InvalidRequestError) as raised:
        push_configs.set_config(alice, task.uuid, target(**fields), recipient=bob.agent)
    assert list(raised.value.fields) == [path]
    with pytest.raises(InvalidRequestError) as raised:
        sent(alice, bob, push=target(**fields))
    assert list(raised.value.fields) == [f"push.{path}"]
    assert not PushConfig.objects.exists()


def test_a_resolved_task_may_get_a_webhook_which_is_told_nothing(alice, bob):
    task = leased(alice, bob).task
    results.post_result(bob, factories.result_envelope(task))

    config = webhook(alice, task, URL)

    assert config.next_attempt_at is None
    assert tell_all() == 0


def test_a_task_is_compacted_after_its_webhook_was_told_its_end(alice, bob):
    with receiver() as hook:
        task = leased(alice, bob).task
        webhook(alice, task, hook.url)
        results.post_result(bob, factories.result_envelope(task, content=()))
        assert compaction.compact(Caller.command_line(), AT_ONCE) == 0

        tell_all()
        assert compaction.compact(Caller.command_line(), AT_ONCE) == 1

    assert told(hook) == ["COMPLETED"]
    assert not PushConfig.objects.exists()
    assert not PushDelivery.objects.exists()


def test_a_told_event_is_not_sent_again(alice, bob, olga):
    with receiver() as hook:
        task = leased(alice, bob).task
        webhook(alice, task, hook.url, config_id="mine")
        updates.post_updates(bob, task.uuid, [Update(message=text("one"))])
        tell_all()
        row = PushDelivery.objects.get()

        with pytest.raises(InvalidRequestError, match="later events"):
            outbox.resend(olga, row.delivery_id, reason="please")
        push_configs.delete_config(alice, task.uuid, "mine", recipient=bob.agent)
        with pytest.raises(InvalidRequestError, match="deleted"):
            outbox.resend(olga, row.delivery_id, reason="please")


def test_an_event_that_is_being_told_is_pending_to_its_readers(alice, bob):
    with receiver() as hook:
        hook.statuses = [500]
        task = leased(alice, bob).task
        webhook(alice, task, hook.url, protocol=PushProtocol.V1_0)
        updates.post_updates(bob, task.uuid, [Update(message=text("one"))])
        deliver_due()

    shown = repair_wire.delivery(PushDelivery.objects.get(), alice)
    assert (shown["state"], shown["event"], shown["attempts"]) == ("pending", "3", 1)
    assert shown["next_attempt_at_ms"] is not None
    assert not PushDelivery.objects.finished().exists()


def test_a_webhook_put_off_by_a_clock_that_ran_ahead_is_brought_back(alice, bob, time_machine):
    time_machine.move_to("2035-01-01T12:00:00Z", tick=False)
    config = webhook(alice, leased(alice, bob).task, URL)
    PushConfig.objects.update(failures=2, next_attempt_at=timezone.now() + timedelta(minutes=7))
    assert outbox.bring_back() == 0

    PushConfig.objects.update(next_attempt_at=timezone.now() + timedelta(minutes=8))
    assert outbox.bring_back() == 1
    config.refresh_from_db()
    assert config.next_attempt_at == timezone.now()


def test_an_erased_task_is_reported_to_no_webhook(alice, bob):
    with receiver() as hook:
        hook.statuses = [500]
        task = leased(alice, bob).task
        webhook(alice, task, hook.url)
        results.post_result(bob, factories.result_envelope(task, content=text("a secret")))
        deliver_due()

        erasure.erase_task(Caller.command_line(), task.uuid, reason="asked to")

        PushConfig.objects.filter(next_attempt_at__isnull=False).update(next_attempt_at=task.sent_at)
        assert tell_all() == 0
    delivery = PushDelivery.objects.get()
    assert "a secret" not in delivery.body
    assert delivery.state == PushDelivery.State.DISABLED
