from datetime import timedelta

import pytest
from django.core.management.base import CommandError

from mailbox.life import results
from mailbox.models import Lease, Task
from mailbox.words import secret_box
from tests.support import factories

ANY_AGE = ("--min-lease-age-ms", 0)


@pytest.fixture
def stale(db):
    alice, bob = factories.agent("alice", "a2a.send.*"), factories.agent("bob", "a2a.respond.*")
    unsafe = factories.leased_task(alice, bob)
    return factories.leased_task(alice, bob, idempotency=factories.idempotent()), unsafe


def test_a_dry_run_prints_what_it_would_requeue_and_changes_nothing(a2a, stale):
    safe, unsafe = stale

    printed = a2a("retry-stale", *ANY_AGE).splitlines()

    assert printed == [
        "considered 2 task(s), requeued 0, skipped 1",
        f"would requeue {safe.task.uuid} (lease {safe.lease_id}, attempt 1)",
        f"skipped {unsafe.task.uuid} (lease {unsafe.lease_id}, attempt 1): missing_idempotency",
        "automatic retry disabled; pass --enable to mutate",
    ]
    assert Lease.objects.live().count() == 2


def test_retry_stale_with_enable_requeues(a2a, stale):
    safe, _ = stale

    printed = a2a("retry-stale", "--enable", *ANY_AGE).splitlines()

    assert printed[0] == "considered 2 task(s), requeued 1, skipped 1"
    assert printed[1].startswith(f"requeued {safe.task.uuid}")
    assert len(printed) == 3
    assert Task.objects.get(pk=safe.task_id).state == Task.State.QUEUED


def test_the_json_report_has_two_keys_and_the_whole_policy(a2a_json, stale):
    printed = a2a_json("retry-stale", "--json", "--max-attempts", 5, "--max-requeues", 2, "--scan-limit", 7, *ANY_AGE)

    assert list(printed) == ["kind", "report"]
    assert printed["kind"] == "a2a_auto_retry"
    assert printed["report"]["policy"] == {
        "enabled": False,
        "min_lease_age_ms": 0,
        "max_attempts": 5,
        "max_requeues": 2,
        "scan_limit": 7,
    }
    assert [len(printed["report"][name]) for name in ("requeued", "would_requeue", "skipped")] == [0, 1, 1]


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("--scan-limit", "0", "between 1 and 10000"),
        ("--max-attempts", "0", "between 1 and 1000000"),
        ("--max-requeues", "-1", "between 0 and 10000"),
        ("--min-lease-age-ms", "9" * 30, "between 0 and 315360000000"),
        ("--scan-limit", "1_0", "an integer"),
        ("--scan-limit", "1.0", "an integer"),
        ("--scan-limit", "9" * 5000, "an integer"),
    ],
)
def test_bounds_out_of_range_are_refused(a2a, db, option, value, told):
    with pytest.raises(CommandError, match=f"{option} must be {told}"):
        a2a("retry-stale", option, value)


def test_compact_deletes_acknowledged_tasks(a2a, a2a_json, db, settings):
    settings.A2A_RETENTION_ACKED = timedelta(0)
    alice, bob = factories.agent("alice", "a2a.send.*"), factories.agent("bob", "a2a.respond.*")
    results.ack_results(alice, [factories.drained_task(alice, bob).task.uuid])

    assert a2a("compact") == "dropped 1 finished task(s)"
    assert a2a_json("compact", "--json") == {"kind": "a2a_compacted", "dropped": 0}


def test_secrets_rotate_reports_what_it_encrypted_again(a2a, a2a_json, bob, settings):
    factories.PushDeliveryFactory.create(sender=bob.agent, sealed_secret=secret_box.seal("s3cret"))
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "new-" * 12, [settings.SECRET_KEY]

    assert a2a("secrets", "rotate") == "encrypted 1 secret(s) again"
    assert a2a_json("secrets", "rotate", "--json") == {"kind": "a2a_secrets_rotated", "resealed": 0, "unreadable": 0}
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = "third-" * 12, []
    assert "1 cannot be read: SECRET_KEY_FALLBACKS lacks their secret" in a2a("secrets", "rotate")
