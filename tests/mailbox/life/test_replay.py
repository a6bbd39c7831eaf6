from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
import time_machine

from mailbox.access.callers import Role
from mailbox.inspection import lists
from mailbox.life import leasing, replay, results, sending
from mailbox.life.fast_path import plain
from mailbox.models import Lease, ReplayEntry, Result, Task
from mailbox.repairs import repair
from mailbox.upkeep import compaction
from mailbox.words.envelopes import Idempotency, ResultStatus
from mailbox.words.errors import CapabilityMissingError, InvalidRequestError, UnknownReplayEntryError
from tests.support import factories

pytestmark = pytest.mark.django_db


def promise(key: str = "report-1") -> Idempotency:
    return factories.idempotent(key)


def answered(alice, bob, /, *, status=ResultStatus.OK, error_message=None, **fields):
    """Send, lease and answer a task that promises idempotence."""
    lease = factories.leased_task(alice, bob, **{"idempotency": promise(), **fields})
    results.post_result(bob, factories.result_envelope(lease.task, status=status, error_message=error_message))
    return lease.task


def test_a_duplicate_of_finished_work_is_resolved_without_a_lease(alice, bob):
    source = answered(alice, bob)

    duplicate = factories.sent_task(alice, bob, idempotency=promise())

    duplicate.refresh_from_db()
    assert (duplicate.state, duplicate.outcome, duplicate.attempt) == ("resolved", "ok", 0)
    assert leasing.lease_tasks(bob) == []
    assert Lease.objects.get().task == source
    assert factories.life_of(duplicate) == ["a2a_task_sent", "a2a_result_replayed"]
    assert factories.last_event().fields == {"source_task_id": str(source.uuid), "status": "ok"}


def test_a_replayed_result_is_drained_under_the_new_id_after_the_first(alice, bob):
    source = answered(alice, bob)
    duplicate = factories.sent_task(alice, bob, idempotency=promise())

    first, replayed = results.drain_results(alice, limit=10)

    assert (first.task, replayed.task) == (source, duplicate)
    assert (replayed.status, replayed.blocks) == ("ok", factories.SOME_TEXT)
    assert (replayed.replayed_from, first.replayed_from) == (source.uuid, None)
    assert (replayed.posted_by, first.posted_by) == (None, bob.agent)


def test_a_cached_result_counts_its_hits(alice, bob, settings):
    settings.A2A_REPLAY_TTL = timedelta(0)
    answered(alice, bob)
    entry = ReplayEntry.objects.get()

    with time_machine.travel(datetime(2035, 1, 1, tzinfo=UTC), tick=False):
        for _ in range(2):
            factories.sent_task(alice, bob, idempotency=promise())

    assert (entry.hits, entry.last_hit_at) == (0, None)
    entry.refresh_from_db()
    assert (entry.hits, entry.last_hit_at) == (2, datetime(2035, 1, 1, tzinfo=UTC))


def test_a_cached_result_names_its_work_and_its_source(alice, bob):
    source = answered(alice, bob, idempotency=promise("  report-1 "), task_kind="summary", error_message="")

    entry = ReplayEntry.objects.get()
    assert (entry.sender_pubkey, entry.recipient_pubkey) == (alice.agent.pubkey, bob.agent.pubkey)
    assert (entry.task_kind, entry.key, entry.source_task_id) == ("summary", "report-1", source.uuid)
    assert (entry.status, entry.error_message) == ("ok", "")
    assert entry.expires_at == entry.stored_at + timedelta(days=90)


@pytest.mark.parametrize("key", ["report-1", " report-1", "report-1\n"])
def test_keys_are_compared_trimmed(alice, bob, key):
    answered(alice, bob)

    assert factories.sent_task(alice, bob, idempotency=promise(key)).state == "resolved"


@pytest.mark.parametrize("key", ["Report-1", "report-2", "report-1 x"])
def test_a_task_with_another_key_is_not_replayed(alice, bob, key):
    answered(alice, bob)

    assert factories.sent_task(alice, bob, idempotency=promise(key)).state == "queued"


def test_tasks_of_one_declared_kind_are_duplicates_despite_other_texts(alice, bob):
    answered(alice, bob, task_kind="summary", intent_text="summarise the report")

    same = factories.sent_task(alice, bob, idempotency=promise(), task_kind=" summary ", intent_text="sum it up")
    other = factories.sent_task(alice, bob, idempotency=promise(), task_kind="review")

    assert (same.state, other.state) == ("resolved", "queued")


def test_without_a_declared_kind_the_whole_intent_is_the_kind(alice, bob):
    answered(alice, bob, intent_text="summarise the report")

    same = factories.sent_task(alice, bob, idempotency=promise(), intent_text="summarise the report")
    other = factories.sent_task(alice, bob, idempotency=promise(), intent_text="summarise the report ")

    assert (same.state, other.state) == ("resolved", "queued")


def test_a_replay_never_crosses_senders(alice, bob):
    carol = factories.agent("carol", "a2a.send.*")
    answered(alice, bob)

    assert factories.sent_task(carol, bob, idempotency=promise()).state == "queued"
    assert results.drain_results(carol) == []


def test_a_replay_never_crosses_recipients(alice, bob):
    carol = factories.agent("carol")
    answered(alice, bob)

    assert factories.sent_task(alice, carol, idempotency=promise()).state == "queued"


def test_fields_of_the_cache_key_cannot_run_into_each_other(alice, bob):
    answered(alice, bob, task_kind='a","b', idempotency=promise("c"))

    assert factories.sent_task(alice, bob, task_kind="a", idempotency=promise('b","c')).state == "queued"


@pytest.mark.parametrize("is_plain", [True, False])
@pytest.mark.parametrize("idempotency", [None, factories.unsafe("report-1")])
def test_unsafe_and_undeclared_work_does_not_use_the_cache(alice, bob, idempotency, is_plain, monkeypatch):
    if not is_plain:
        monkeypatch.setattr(plain, "is_outermost", lambda: False)
    answered(alice, bob, idempotency=idempotency)
    cached = ReplayEntry.objects.count()
    answered(alice, bob)

    duplicate = factories.sent_task(alice, bob, idempotency=idempotency)

    assert cached == 0
    assert (duplicate.state, duplicate.cache_key) == ("queued", None)


@pytest.mark.parametrize("status", [ResultStatus.ERROR, ResultStatus.PARTIAL])
def test_only_ok_results_are_cached(alice, bob, status):
    answered(alice, bob, status=status)

    assert not ReplayEntry.objects.exists()
    assert factories.sent_task(alice, bob, idempotency=promise()).state == "queued"


def test_a_setting_adds_statuses_that_are_cached(alice, bob, settings):
    settings.A2A_REPLAY_STATUSES = ["ok", "error"]
    answered(alice, bob, status=ResultStatus.ERROR, error_message="no such report")

    duplicate = factories.sent_task(alice, bob, idempotency=promise())

    assert (duplicate.outcome, Result.objects.get(task=duplicate).error_message) == ("error", "no such report")


def test_a_forced_error_never_touches_the_cache(alice, bob, olga, settings):
    settings.A2A_REPLAY_STATUSES = ["ok", "error"]
    lease = factories.leased_task(alice, bob, idempotency=promise())

    repair.force_error(olga, lease.task.uuid, reason="stuck", message="gave up")

    assert not ReplayEntry.objects.exists()
    assert factories.sent_task(alice, bob, idempotency=promise()).state == "queued"


def test_a_late_result_is_cached_too(alice, bob, olga):
    lease = factories.leased_task(alice, bob, idempotency=promise())
    repair.requeue(olga, lease.task.uuid, reason="slow", duplicate_risk=repair.DuplicateRisk.IDEMPOTENT)

    results.post_result(bob, factories.result_envelope(lease.task))

    assert factories.sent_task(alice, bob, idempotency=promise()).state == "resolved"


def test_an_expired_cached_result_is_not_used_and_the_next_result_renews_it(alice, bob, settings):
    settings.A2A_REPLAY_TTL = timedelta(minutes=10)
    start = datetime(2035, 1, 1, tzinfo=UTC)
    with time_machine.travel(start, tick=False) as clock:
        answered(alice, bob)
        clock.shift(timedelta(minutes=10) - timedelta(microseconds=1))
        in_time = factories.sent_task(alice, bob, idempotency=promise())
        clock.shift(timedelta(microseconds=1))
        second = answered(alice, bob)

    assert in_time.state == "resolved"
    entry = ReplayEntry.objects.get()
    assert (entry.source_task_id, entry.expires_at) == (second.uuid, start + timedelta(minutes=20))


def test_the_cache_outlives_the_compaction_of_its_source(alice, bob):
    source = answered(alice, bob)
    results.ack_results(alice, [source.uuid])
    admin = factories.person("ada", Role.ADMIN)

    dropped = compaction.compact(admin, factories.AT_ONCE)

    assert (dropped, Task.objects.count()) == (1, 0)
    duplicate = factories.sent_task(alice, bob, idempotency=promise())
    assert (duplicate.state, Result.objects.get().replayed_from) == ("resolved", source.uuid)


def test_an_identical_repeat_of_a_replayed_send_counts_no_second_hit(alice, bob):
    answered(alice, bob)
    task_id = uuid4()

    for _ in range(2):
        factories.sent_task(alice, bob, id=task_id, idempotency=promise())

    assert ReplayEntry.objects.get().hits == 1
    assert Result.objects.count() == 2


def test_a_dropped_cached_result_is_not_used_and_its_drop_is_journalled(alice, bob, olga):
    source = answered(alice, bob)
    entry = ReplayEntry.objects.get()

    replay.drop(olga, entry.pk, reason=" the report changed ")

    assert not ReplayEntry.objects.exists()
    check, dropped = factories.journal("capability_check")[-1], factories.last_event()
    assert (check.fields["required_actions"], check.fields["passed"]) == (["a2a.replay.drop"], True)
    assert (dropped.kind, dropped.actor) == ("a2a_replay_dropped", "user:olga")
    assert dropped.fields == {
        "id": entry.pk,
        "key": "report-1",
        "source_task_id": str(source.uuid),
        "reason": "the report changed",
    }
    assert factories.sent_task(alice, bob, idempotency=promise()).state == "queued"


def test_a_drop_needs_a_reason(alice, bob, olga):
    answered(alice, bob)

    with pytest.raises(InvalidRequestError):
        replay.drop(olga, ReplayEntry.objects.get().pk, reason="  ")

    assert ReplayEntry.objects.exists()


def test_agents_cannot_drop_cached_results_of_their_own(alice, bob):
    answered(alice, bob)

    with pytest.raises(CapabilityMissingError):
        replay.drop(bob, ReplayEntry.objects.get().pk, reason="mine")

    assert ReplayEntry.objects.exists()
    assert (factories.last_event().kind, factories.last_event().fields["passed"]) == ("capability_check", False)


def test_a_drop_of_an_unknown_cached_result_is_refused(olga):
    with pytest.raises(UnknownReplayEntryError):
        replay.drop(olga, 1, reason="x")


def test_a_drop_is_refused_once_another_result_is_cached(alice, bob, olga):
    source = answered(alice, bob)
    entry = ReplayEntry.objects.get()

    with pytest.raises(UnknownReplayEntryError, match="was replaced by"):
        replay.drop(olga, entry.pk, reason="outdated", source_task_id=uuid4())

    assert ReplayEntry.objects.get() == entry
    replay.drop(olga, entry.pk, reason="outdated", source_task_id=source.uuid)
    assert not ReplayEntry.objects.exists()


def test_agents_see_cached_results_of_their_own_and_people_see_all(alice, bob, mallory, olga):
    answered(alice, bob)
    entry = ReplayEntry.objects.get()

    seen = [list(lists.replay_entries(caller).items) for caller in (alice, bob, olga, mallory)]

    assert seen == [[entry], [entry], [entry], []]


def test_a_cancelled_task_is_not_cached(alice, bob):
    task = factories.sent_task(alice, bob, idempotency=promise())

    sending.cancel(alice, task.uuid)

    assert not ReplayEntry.objects.exists()
