"""The courier: each webhook gets the events of its task in order, each at least once."""

from concurrent.futures import wait
from datetime import timedelta

import pytest
from django.db import OperationalError
from django.utils import timezone

from mailbox.background import courier
from mailbox.background.courier import Courier
from mailbox.inspection import task_events
from mailbox.life import conversation, leasing, outbox, results, updates
from mailbox.life.delivery_slots import DeliverySlots
from mailbox.models import PushConfig, PushDelivery
from mailbox.words.conversation import ArtifactUpdate, Update, UpdateStatus, Words
from mailbox.words.push import PushProtocol, PushTarget
from tests.support import factories
from tests.support.callback_rounds import deliver_due
from tests.support.factories import text
from tests.support.receiver import receiver
from tests.support.webhook_rounds import bodies, leased, sent, tell_all, told, webhook

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("loopback")]
OPERATOR_REASON = "the receiver is back"


def said(words, **fields):
    return Update(message=text(words), **fields)


def chunk(words, **fields):
    return ArtifactUpdate(content=text(words), artifact_id="poem", **fields)


def answer(caller, task, **fields):
    return results.post_result(caller, factories.result_envelope(task, **fields))


def test_every_event_is_told_in_order_with_the_headers_of_the_receiver(alice, bob):
    with receiver() as hook:
        task = sent(alice, bob)
        webhook(alice, task, hook.url, token="t0ken", auth_scheme="Bearer", auth_credentials="s3cret")
        (lease,) = leasing.lease_tasks(bob)
        updates.post_updates(bob, task.uuid, [said("on it"), chunk("roses", last_chunk=True)])
        answer(bob, task, content=())

        assert tell_all() == 4

    assert told(hook) == ["WORKING", "WORKING: on it", "poem: roses", "COMPLETED"]
    heads = [head for head, _ in hook.calls]
    assert {head["Authorization"] for head in heads} == {"Bearer s3cret"}
    assert {head["X-A2A-Notification-Token"] for head in heads} == {"t0ken"}
    assert {head["Content-Type"] for head in heads} == {"application/a2a+json"}
    told_ids = [str(row.delivery_id) for row in PushDelivery.objects.order_by("seq", "part")]
    assert [head["webhook-id"] for head in heads] == told_ids
    assert lease.task == task


def test_an_event_names_the_task_and_its_context(alice, bob):
    with receiver() as hook:
        task = leased(alice, bob).task
        webhook(alice, task, hook.url)
        answer(bob, task, content=text("done"))
        tell_all()

    artifact, status = bodies(hook)
    ids = {"taskId": str(task.uuid), "contextId": "talk"}
    assert artifact["artifactUpdate"].items() >= {**ids, "lastChunk": True}.items()
    assert status["statusUpdate"].items() >= ids.items()
    assert [row.event for row in PushDelivery.objects.order_by("pk")] == ["3.1", "3"]


def test_a_webhook_that_came_with_the_task_is_told_all_after_the_task(alice, bob):
    with receiver() as hook:
        task = leased(alice, bob, push=PushTarget(url=hook.url, config_id="mine")).task
        updates.post_updates(bob, task.uuid, [Update(status=UpdateStatus.INPUT_REQUIRED, message=text("which?"))])
        conversation.say(alice, task.uuid, Words(content=text("this")))
        tell_all()

    assert told(hook) == ["WORKING", "INPUT_REQUIRED: which?", "SUBMITTED"]


def test_a_webhook_that_came_with_an_answer_is_told_of_it(alice, bob):
    with receiver() as hook:
        task = leased(alice, bob).task
        updates.post_updates(bob, task.uuid, [Update(status=UpdateStatus.INPUT_REQUIRED, message=text("which?"))])
        conversation.say(alice, task.uuid, Words(content=text("this")), push=PushTarget(url=hook.url))
        tell_all()

    assert told(hook) == ["SUBMITTED"]


def test_a_receiver_that_fails_three_times_gets_every_event_later_once_and_in_order(alice, bob, time_machine):
    time_machine.move_to(timezone.now(), tick=False)
    with receiver() as hook:
        hook.statuses = [500, 503, 404]
        task = leased(alice, bob).task
        config = webhook(alice, task, hook.url)
        updates.post_updates(bob, task.uuid, [said("one"), said("two")])

        for pause in (timedelta(0), *outbox.BACK_OFF[:3]):
            time_machine.shift(pause)
            assert deliver_due() == 1
        assert tell_all() == 1

    assert told(hook) == [*["WORKING: one"] * 4, "WORKING: two"]
    ids = [head["webhook-id"] for head, _ in hook.calls]
    assert len(set(ids[:4])) == 1
    config.refresh_from_db()
    assert (config.failures, config.disabled_at) == (0, None)


def test_a_dead_receiver_is_disabled_until_an_operator_sends_again(alice, bob, olga, time_machine):
    time_machine.move_to(timezone.now(), tick=False)
    with receiver() as hook:
        hook.statuses = [500] * 6
        task = leased(alice, bob).task
        config = webhook(alice, task, hook.url)
        updates.post_updates(bob, task.uuid, [said("one")])
        answer(bob, task, content=())
        for pause in (timedelta(0), *outbox.BACK_OFF):
            time_machine.shift(pause)
            assert deliver_due() == 1
        time_machine.shift(timedelta(days=1))
        assert deliver_due() == 0
        config.refresh_from_db()
        assert (config.failures, config.next_attempt_at) == (6, None)
        assert config.disabled_at is not None
        (dead,) = PushDelivery.objects.given_up()

        outbox.resend(olga, dead.delivery_id, reason=OPERATOR_REASON)
        assert tell_all() == 2

    assert told(hook)[5:] == ["WORKING: one", "WORKING: one", "COMPLETED"]
    config.refresh_from_db()
    assert config.standing == "done"
    assert config.next_attempt_at is None


def test_a_crash_in_an_attempt_repeats_the_event_and_tells_no_later_one_before(alice, bob, time_machine):
    time_machine.move_to(timezone.now(), tick=False)
    with receiver() as hook:
        task = leased(alice, bob).task
        webhook(alice, task, hook.url)
        updates.post_updates(bob, task.uuid, [said("one"), said("two")])
        (claimed,) = Courier().claim(8, DeliverySlots())
        courier.attempt(claimed)  # and the process ends before it reports

        assert deliver_due() == 0
        time_machine.shift(outbox.REPORT_TIMEOUT)
        assert tell_all() == 2

    assert told(hook) == ["WORKING: one", "WORKING: one", "WORKING: two"]
    assert len({head["webhook-id"] for head, _ in hook.calls}) == 2
    assert claimed.log.get(number=1).problem == outbox.LOST


def test_an_outcome_outlives_a_failure_of_the_database_and_its_event_is_told_once(alice, bob, monkeypatch):
    one, reported = Courier(), outbox.report
    failures = iter([OperationalError("the database is away")])

    def report(*given):
        for failure in failures:
            raise failure
        reported(*given)

    monkeypatch.setattr(outbox, "report", report)
    with receiver() as hook:
        task = leased(alice, bob).task
        webhook(alice, task, hook.url)
        updates.post_updates(bob, task.uuid, [said("one")])
        assert one.look_around() == 1
        wait(one._under_way)
        with pytest.raises(OperationalError):
            one.look_around()
        stored = PushDelivery.objects.get().state
        assert one.look_around() == 0
        one.finish()

    assert (stored, PushDelivery.objects.get().state) == ("telling", "delivered")
    assert told(hook) == ["WORKING: one"]


def test_chunks_that_wait_together_are_told_as_one_update(alice, bob):
    with receiver() as hook:
        task = leased(alice, bob).task
        webhook(alice, task, hook.url)
        parts = [chunk("a"), chunk("b", append=True), chunk("c", append=True, last_chunk=True)]
        updates.post_updates(bob, task.uuid, [*parts, said("there"), chunk("d", append=True), chunk("e", append=True)])
        tell_all()

    assert told(hook) == ["poem: abc", "WORKING: there", "poem: de"]
    first, _, last = bodies(hook)
    assert first["artifactUpdate"]["lastChunk"] is True
    assert "append" not in first["artifactUpdate"]
    assert last["artifactUpdate"]["append"] is True


def test_a_new_artifact_of_the_same_name_is_an_update_of_its_own(alice, bob):
    with receiver() as hook:
        task = leased(alice, bob).task
        webhook(alice, task, hook.url)
        updates.post_updates(bob, task.uuid, [chunk("a"), chunk("b")])
        tell_all()

    assert told(hook) == ["poem: a", "poem: b"]


def test_a_receiver_of_0_3_gets_the_whole_task_as_it_is_on_changes_of_its_status(alice, bob, time_machine):
    time_machine.move_to(timezone.now(), tick=False)
    with receiver() as hook:
        hook.statuses = [500]
        task = leased(alice, bob).task
        webhook(alice, task, hook.url, protocol=PushProtocol.V0_3, token="t0ken")
        updates.post_updates(bob, task.uuid, [chunk("roses")])
        assert tell_all() == 0
        updates.post_updates(bob, task.uuid, [said("on it")])
        deliver_due()
        answer(bob, task, content=())
        time_machine.shift(outbox.BACK_OFF[0])
        assert tell_all() == 2

    seen = [(body["kind"], body["id"], body["status"]["state"]) for body in bodies(hook)]
    assert seen == [("task", str(task.uuid), state) for state in ("working", "completed", "completed")]
    assert bodies(hook)[0]["artifacts"][0]["parts"] == [{"kind": "text", "text": "roses"}]
    assert {head["Content-Type"] for head, _ in hook.calls} == {"application/json"}
    assert {head["X-A2A-Notification-Token"] for head, _ in hook.calls} == {"t0ken"}
    assert PushConfig.objects.get().next_attempt_at is None


def test_rows_without_an_event_are_passed_over(alice, bob):
    with receiver() as hook:
        task = leased(alice, bob).task
        config = webhook(alice, task, hook.url)
        conversation.say(alice, task.uuid, Words(content=text("faster")))

        assert tell_all() == 0
        assert not PushConfig.objects.due(timezone.now()).exists()
        answer(bob, task, content=())
        tell_all()

    assert told(hook) == ["COMPLETED"]
    config.refresh_from_db()
    assert config.next_attempt_at is None


def test_the_courier_listens_to_tasks_with_open_webhooks(alice, bob):
    with receiver() as hook:
        task, other = leased(alice, bob).task, sent(alice, bob)
        webhook(alice, task, hook.url)
        assert list(outbox.listened_to()) == [task.uuid]

        answer(bob, task, content=())
        tell_all()

    assert list(outbox.listened_to()) == []
    assert other.pk


def test_an_event_that_cannot_be_rendered_holds_up_no_other_webhook(alice, bob, monkeypatch, caplog):
    with receiver() as hook:
        broken, task = leased(alice, bob).task, leased(alice, bob).task
        for one in (broken, task):
            webhook(alice, one, hook.url)
            updates.post_updates(bob, one.uuid, [said("on it")])
        rows_after = task_events.rows_after

        def break_one(of, seq):
            if of == broken:
                raise ValueError("a bug")
            return rows_after(of, seq)

        monkeypatch.setattr(task_events, "rows_after", break_one)
        assert tell_all() == 1

    assert [body["statusUpdate"]["taskId"] for body in bodies(hook)] == [str(task.uuid)]
    assert "could not be rendered" in caplog.text


def test_the_receiver_on_the_loopback_is_told_only_where_it_is_allowed(alice, bob, settings):
    with receiver() as hook:
        task = leased(alice, bob).task
        webhook(alice, task, hook.url)
        settings.A2A_OUTBOUND_ALLOW = []
        updates.post_updates(bob, task.uuid, [said("on it")])
        deliver_due()

    assert hook.calls == []
    assert PushDelivery.objects.get().log.get().problem.startswith("Blocked URL")
