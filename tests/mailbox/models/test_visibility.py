import pytest

from mailbox.access.agents import peers
from mailbox.life import results
from mailbox.models import ApiKey, AuditEvent, CapabilityGrant, Lease, Peer, PushDelivery, ReplayEntry, Result, Task
from tests.support import factories

pytestmark = pytest.mark.django_db

SEEN = [
    (Task.objects.visible_to, {"alice": 1, "bob": 1, "mallory": 0}),
    (Task.objects.sent_by, {"alice": 1, "bob": 0, "mallory": 0}),
    (Task.objects.addressed_to, {"alice": 0, "bob": 1, "mallory": 0}),
    (Lease.objects.visible_to, {"alice": 1, "bob": 1, "mallory": 0}),
    (Lease.objects.of_holder, {"alice": 0, "bob": 1, "mallory": 0}),
    (Lease.objects.of_tasks_from, {"alice": 1, "bob": 0, "mallory": 0}),
    (Result.objects.addressed_to, {"alice": 1, "bob": 0, "mallory": 0}),
    (ReplayEntry.objects.visible_to, {"alice": 1, "bob": 1, "mallory": 0}),
    (PushDelivery.objects.visible_to, {"alice": 1, "bob": 0, "mallory": 0}),
    (CapabilityGrant.objects.visible_to, {"alice": 1, "bob": 1, "mallory": 0}),
    (ApiKey.objects.visible_to, {"alice": 1, "bob": 0, "mallory": 0}),
    (Peer.objects.visible_to, {"alice": 1, "bob": 0, "mallory": 0}),
    (AuditEvent.objects.visible_to, {"alice": 2, "bob": 3, "mallory": 0}),
]


@pytest.mark.parametrize(("seen_by", "numbers"), SEEN, ids=lambda case: getattr(case, "__qualname__", None))
def test_an_agent_sees_only_its_own_rows_and_no_agent_means_all_rows(seen_by, numbers, alice, bob, mallory, settings):
    settings.A2A_OUTBOUND_ALLOW = ["127.0.0.0/8"]
    callback = {"callback_url": "http://127.0.0.1:8080/", "callback_secret": "s" * 32}
    lease = factories.leased_task(alice, bob, idempotency=factories.idempotent(), **callback)
    results.post_result(bob, factories.result_envelope(lease.task))
    factories.key_of(alice)
    peers.seen(alice, "peer")

    assert {who.agent.local: seen_by(who.agent).count() for who in (alice, bob, mallory)} == numbers
    assert seen_by(None).count() == seen_by.__self__.count() > 0
