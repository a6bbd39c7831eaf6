"""Signatures, lists of keys and people, quotas and upkeep of a served hub."""

from contextlib import ExitStack
from datetime import UTC, datetime, timedelta

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from a2a_hub_client import Answer, Hub, KeyFile
from a2a_hub_client.refusals import BadSignatureError, UnauthenticatedError, UnknownRouteError
from mailbox.access.callers import Role
from mailbox.models import ApiKey, Lease, Result, SpentNonce
from mailbox.words import ed25519
from tests.support import factories
from tests.support.own_client import client_of
from tests.support.signing import Signer

pytestmark = [pytest.mark.processes, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def callers(transactional_db):
    return {
        "alice": factories.agent("alice", "a2a.send.*"),
        "bob": factories.agent("bob", "a2a.respond.*"),
        "olga": factories.person("olga", Role.ADMIN),
    }


@pytest.fixture
def hub_of(served_hub, callers):
    """Return a client by the name of an agent or person."""
    with ExitStack() as opened:
        yield lambda name: opened.enter_context(client_of(served_hub.url, factories.key_of(callers[name])))


def test_a_private_key_signs_each_request(served_hub, callers):
    signer = Signer(callers["alice"])

    with Hub(served_hub.url, signing_key=ed25519.seed_of(signer.key)) as alice:
        task = alice.send("bob", "a")
        assert alice.task(task.id).entry().state == "queued"
        list(alice.queue(state="queued"))

    assert SpentNonce.objects.count() == 3


def test_a_key_that_was_never_proved_is_refused(served_hub, callers):
    unproved = Ed25519PrivateKey.generate()

    with Hub(served_hub.url, signing_key=unproved) as hub, pytest.raises(BadSignatureError, match="unknown key"):
        hub.me()


def test_a_rolled_key_works_without_a_restart(served_hub, callers, tmp_path):
    path = tmp_path / "key"
    path.write_text(factories.key_of(callers["bob"]))

    with Hub(served_hub.url, KeyFile(path)) as bob:
        rotated = bob.rotate_key(overlap=timedelta(minutes=1))
        assert rotated.overlap_ends_at > datetime.now(UTC)
        ApiKey.objects.filter(public_id=rotated.replaces).delete()
        with pytest.raises(UnauthenticatedError):
            bob.me()
        path.write_text(rotated.api_key)
        assert bob.me().agent


def test_an_admin_lists_keys_and_people(hub_of):
    olga, bob = hub_of("olga"), hub_of("bob")

    owners = {key.agent.display if key.agent else key.person for key in olga.keys()}  # noqa: SIM118 (no mapping)
    (own,) = bob.keys()
    (person,) = olga.people()

    assert owners == {"bob@local", "olga"}
    assert own.agent
    assert (own.agent.display, own.revoked_at) == ("bob@local", None)
    assert (person.name, person.role, person.is_active) == ("olga", "admin", True)


def test_an_admin_adds_and_revokes_a_public_route(hub_of):
    olga = hub_of("olga")

    made = olga.add_route("bob", rate_limit=7)
    (route,) = olga.routes()

    assert made.public_id in made.url
    assert (route.public_id, route.agent.display, route.rate_limit) == (made.public_id, "bob@local", 7)
    olga.revoke_route(made.public_id)
    assert next(olga.routes()).revoked_at
    with pytest.raises(UnknownRouteError):
        olga.revoke_route("nothing1")


def test_an_admin_sets_the_quotas_of_an_agent(hub_of):
    olga = hub_of("olga")

    changed = {quota.quota: quota for quota in olga.set_quotas("bob", {"waits": 3}) if quota.recipient is None}
    assert (changed["waits"].limit, changed["waits"].is_own) == (3, True)

    restored = {quota.quota: quota for quota in olga.set_quotas("bob", {"waits": None})}
    assert not restored["waits"].is_own
    assert {quota.quota for quota in olga.quotas("bob")} == restored.keys()


def test_signing_keys_are_listed_and_retired(hub_of, callers):
    Signer(callers["bob"])
    olga = hub_of("olga")

    (key,) = olga.signing_keys("bob")
    (retired,) = olga.retire_signing_key("bob")

    assert key.retired_at is None
    assert retired.retired_at
    assert retired.pubkey == key.pubkey


def test_a_stale_lease_is_requeued_within_limits(hub_of):
    alice, bob, olga = hub_of("alice"), hub_of("bob"), hub_of("olga")
    task = alice.send("bob", "a", idempotency_key="k")
    bob.receive()

    planned = olga.retry_stale(min_lease_age=0)
    done = olga.retry_stale(enabled=True, min_lease_age=0)

    assert [row.task_id for row in planned.would_requeue] == [task.id]
    assert [row.task_id for row in done.requeued] == [task.id]
    assert done.policy.enabled
    assert task.entry().state == "queued"
    assert [row.reason for row in olga.retry_stale(min_lease_age=timedelta(days=1)).skipped] == []


def test_cached_results_are_listed_and_dropped(hub_of):
    alice, bob, olga = hub_of("alice"), hub_of("bob"), hub_of("olga")
    task = alice.send("bob", "a", kind="k", idempotency_key="1")
    bob.post_result(Answer(task_id=task.id, content="done"))

    (entry,) = olga.replay_entries()
    assert (entry.source_task_id, entry.task_kind, entry.key, entry.hits) == (task.id, "k", "1", 0)

    olga.drop_replay_entry(entry.id, reason="wrong", source_task_id=task.id)
    assert list(olga.replay_entries()) == []


def test_finished_tasks_are_compacted(hub_of):
    alice, bob, olga = hub_of("alice"), hub_of("bob"), hub_of("olga")
    task = alice.send("bob", "a")
    bob.post_result(Answer(task_id=task.id, content="done"))
    task.result(timeout=30)
    ages_ago = datetime.now(UTC) - timedelta(days=30)
    Lease.objects.update(ended_at=ages_ago)
    Result.objects.update(acked_at=ages_ago, delivered_at=ages_ago)

    assert olga.compact() == 1

    again = alice.send("bob", "a", id=task.id)
    assert again.outcome == "ok"


def test_callbacks_are_listed_and_sent_again(hub_of):
    alice, bob = hub_of("alice"), hub_of("bob")
    task = alice.send("bob", "a", callback_url="https://example.com/done", callback_secret="s" * 32)
    bob.post_result(Answer(task_id=task.id, content="done"))

    (delivery,) = alice.deliveries()

    assert (delivery.task_id, delivery.url, delivery.signed) == (task.id, "https://example.com/done", True)
    hub_of("olga").resend_delivery(delivery.id, reason="again")
    (again,) = alice.deliveries()
    assert again.state == "pending"


def test_the_journal_is_verified(hub_of):
    hub_of("alice").send("bob", "a")

    found = hub_of("olga").verify_journal()

    assert found.whole
    assert found.finding is None
    assert found.unsealed > 0


def test_a_hub_without_peers_lists_none(hub_of):
    assert list(hub_of("olga").peers()) == []


def test_an_agent_is_shown_with_its_state(hub_of):
    entry = hub_of("olga").agent("bob")

    assert (entry.agent.display, entry.paused_at, entry.is_open) == ("bob@local", None, False)
    assert entry.created_at <= datetime.now(UTC)
