"""A send beyond a quota is refused. A task that has left the queue makes room for another."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection

from mailbox.access.agents import grants
from mailbox.access.callers import Caller
from mailbox.access.limits import quotas
from mailbox.life import leasing, results, sending
from mailbox.life.fast_path import plain
from mailbox.models import PairStock, PushDelivery, SenderStock, Task
from mailbox.upkeep import compaction, imports
from mailbox.upkeep.compaction import Retention
from mailbox.words.envelopes import AgentRef, TaskEnvelope
from mailbox.words.errors import QuotaExceededError
from tests.support import factories
from tests.support.factories import accepts

# A refusal undoes the statement of the fast form, and on PostgreSQL the test's own transaction with it.
pytestmark = pytest.mark.django_db(transaction=connection.vendor == "postgresql")
CALLBACK = "https://receiver.example/done"
SIZE = len("summarise the report") + len("{}")


def accepted(sender, recipient, *, tries=6, **fields):
    return sum(accepts(sender, recipient, **fields) for _ in range(tries))


@pytest.fixture(params=["fast form", "whole form"])
def form(request, monkeypatch):
    if request.param == "whole form":
        monkeypatch.setattr(plain, "send_task", lambda *_: None)
    return request.param


@pytest.mark.usefixtures("form")
def test_a_sender_queues_up_to_its_quota_over_all_recipients(alice, bob, mallory, settings):
    settings.A2A_QUOTA_QUEUED = 3

    assert [accepts(alice, bob), accepts(alice, mallory), accepts(alice, bob), accepts(alice, bob)] == [
        True,
        True,
        True,
        False,
    ]
    assert Task.objects.count() == 3


@pytest.mark.usefixtures("form")
def test_a_sender_queues_up_to_its_quota_for_one_recipient(alice, bob, mallory, settings):
    settings.A2A_QUOTA_QUEUED_TO_ONE = 2

    assert (accepted(alice, bob), accepted(alice, mallory)) == (2, 2)


@pytest.mark.usefixtures("form")
def test_the_quota_of_one_sender_takes_nothing_from_another(alice, bob, settings):
    settings.A2A_QUOTA_QUEUED = settings.A2A_QUOTA_QUEUED_TO_ONE = 2
    accepted(alice, bob)

    assert accepted(factories.agent("anna", "a2a.send.*"), bob) == 2


@pytest.mark.usefixtures("form")
def test_a_sender_stores_bytes_up_to_its_quota(alice, bob, settings):
    settings.A2A_QUOTA_BYTES = 3 * SIZE + SIZE - 1

    assert accepted(alice, bob) == 3


@pytest.mark.usefixtures("form")
def test_the_first_task_of_a_sender_may_exceed_its_quota_of_bytes_too(alice, bob, settings):
    settings.A2A_QUOTA_BYTES = SIZE - 1

    assert not accepts(alice, bob)
    assert not Task.objects.exists()


def test_a_sender_has_callbacks_up_to_its_quota(alice, bob, settings):
    settings.A2A_QUOTA_CALLBACKS = 2

    assert accepted(alice, bob, callback_url=CALLBACK) == 2
    assert accepts(alice, bob)


def test_a_callback_counts_until_it_is_delivered(alice, bob, settings):
    settings.A2A_QUOTA_CALLBACKS = 1
    accepts(alice, bob, callback_url=CALLBACK)
    (lease,) = leasing.lease_tasks(bob)
    results.post_result(bob, factories.result_envelope(lease.task))

    assert not accepts(alice, bob, callback_url=CALLBACK)
    PushDelivery.objects.update(state=PushDelivery.State.DELIVERED)
    quotas.forget()
    assert accepts(alice, bob, callback_url=CALLBACK)


def test_the_callback_of_an_interrupted_task_counts(alice, bob, settings):
    settings.A2A_QUOTA_CALLBACKS = 1
    task = factories.interrupted_task(alice, bob, callback_url=CALLBACK)

    assert not accepts(alice, bob, callback_url=CALLBACK)
    sending.cancel(alice, task.uuid)
    PushDelivery.objects.update(state=PushDelivery.State.DELIVERED)
    quotas.forget()
    assert accepts(alice, bob, callback_url=CALLBACK)


@pytest.mark.usefixtures("form")
def test_a_leased_task_makes_room(alice, bob, settings):
    settings.A2A_QUOTA_QUEUED = settings.A2A_QUOTA_QUEUED_TO_ONE = 2
    accepted(alice, bob, tries=2)
    leasing.lease_tasks(bob)

    assert accepted(alice, bob) == 1


def test_a_refusal_counts_for_a_while(alice, bob, settings):
    settings.A2A_QUOTA_QUEUED = 1
    accepted(alice, bob)
    leasing.lease_tasks(bob)

    assert not accepts(alice, bob), "the stock is not counted at each refusal"
    quotas.forget()
    assert accepts(alice, bob)


def test_a_returned_task_is_never_refused_and_counts_at_the_next_look(alice, bob, settings):
    settings.A2A_QUOTA_QUEUED = 2
    accepted(alice, bob, tries=2)
    (lease,) = leasing.lease_tasks(bob)
    accepts(alice, bob)
    leasing.release(bob, lease.task.uuid, reason="not mine")

    assert Task.objects.queued().count() == 3
    assert not accepts(alice, bob)


def test_a_repeated_send_counts_once(alice, bob, settings):
    settings.A2A_QUOTA_QUEUED = 2
    envelope = factories.task_envelope(bob, id=factories.sent_task(alice, bob).uuid)

    for _ in range(5):
        sending.send_task(alice, envelope)

    assert SenderStock.objects.get().queued == PairStock.objects.get().queued == 1


def test_a_repeated_send_is_acknowledged_at_the_quota(alice, bob, settings):
    settings.A2A_QUOTA_QUEUED = 1
    task = factories.sent_task(alice, bob)

    assert sending.send_task(alice, factories.task_envelope(bob, id=task.uuid)).uuid == task.uuid


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize(("own", "tries"), [(0, 0), (1, 1), (4, 4)])
def test_an_agent_s_own_quota_goes_before_the_setting(alice, bob, settings, own, tries):
    settings.A2A_QUOTA_QUEUED = 2
    SenderStock.objects.create(agent=factories.row_of(alice), max_queued=own)

    assert accepted(alice, bob) == tries


@pytest.mark.usefixtures("form")
def test_a_pair_s_own_quota_goes_before_the_setting(alice, bob, mallory):
    PairStock.objects.create(sender=factories.row_of(alice), recipient=factories.row_of(bob), max_queued=1)

    assert (accepted(alice, bob), accepted(alice, mallory)) == (1, 6)


def test_a_compacted_task_gives_its_bytes_back(alice, bob, settings):
    settings.A2A_QUOTA_BYTES = SIZE
    result = factories.resolved_task(alice, bob)
    results.drain_results(alice)
    results.ack_results(alice, [result.task.uuid])
    assert not accepts(alice, bob)

    assert compaction.compact(Caller.local(), Retention(acked=timedelta(0))) == 1

    assert SenderStock.objects.get().size == 0
    assert accepts(alice, bob)


def test_a_count_that_is_too_high_is_mended_at_the_quota(alice, bob, settings):
    settings.A2A_QUOTA_QUEUED = settings.A2A_QUOTA_QUEUED_TO_ONE = 5
    settings.A2A_QUOTA_BYTES = 5 * SIZE
    settings.A2A_QUOTA_CALLBACKS = 1
    accepts(alice, bob)
    SenderStock.objects.update(queued=5, size=5 * SIZE, callbacks=1)
    PairStock.objects.update(queued=5)

    assert accepts(alice, bob, callback_url=CALLBACK)
    stock = SenderStock.objects.get()
    assert (stock.queued, stock.size, stock.callbacks, PairStock.objects.get().queued) == (2, 2 * SIZE, 1, 2)


def test_a_refusal_is_journalled(alice, bob, settings):
    settings.A2A_QUOTA_QUEUED_TO_ONE = 1
    accepted(alice, bob, tries=2)

    (row,) = factories.journal("a2a_quota_exceeded")
    assert row.actor == "alice@local"
    assert row.fields == {"quota": "queued_to_one", "agent": "alice@local", "limit": 1}


def test_an_import_counts_too(alice, bob, settings):
    settings.A2A_QUOTA_QUEUED = 2
    kept = [imports.Kept(task=factories.task_envelope(bob, id=uuid4()), sender="carol@local") for _ in range(3)]

    with pytest.raises(QuotaExceededError):
        imports.import_tasks(Caller.local(), "bob@local", kept)
    assert not Task.objects.exists()
    imports.import_tasks(Caller.local(), "bob@local", kept[:2])
    assert SenderStock.objects.get().queued == 2


def test_strangers_of_one_network_have_a_quarter_of_the_queue_and_others_the_rest(bob, settings):
    settings.A2A_QUOTA_QUEUED_TO_ONE = 8
    grants.open_to_anyone(Caller.command_line(), bob.agent)

    def send(address, recipient=bob):
        stranger = grants.anonymous_caller(factories.row_of(recipient), request_id="", address=address)
        assert stranger
        to = AgentRef(display=recipient.agent.display)
        return sending.send_task(stranger, TaskEnvelope(recipient=to, intent_text="hello"))

    for addresses in (["192.0.2.1", "192.0.2.1"], ["2001:db8:1:1::1", "2001:db8:1:2::2"]):
        for address in addresses:
            send(address)
        with pytest.raises(QuotaExceededError) as refusal:
            send(addresses[0])
        assert refusal.value.ids == {"quota": "queued_of_network"}
    (first, *_) = factories.journal("a2a_quota_exceeded")
    assert first.fields == {"quota": "queued_of_network", "agent": "anonymous@public", "limit": 2}
    assert [send(address).state for address in ("192.0.2.2", "2001:db8:2::1")] == ["queued"] * 2

    factories.grant(bob, "a2a.respond.*")
    for _ in range(2):
        leasing.lease_tasks(bob)
    assert send("192.0.2.1").state == "queued"
