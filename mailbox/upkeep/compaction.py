"""Compaction deletes the rows of finished tasks. Retention deletes old rows that belong to no task.

The journal and the cached results outlive a compaction. Rows that belong to no task hold no decision, so the journal
does not record their deletion.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib import import_module

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q, Sum
from django.utils import timezone

from mailbox import models
from mailbox.access import audit
from mailbox.access.callers import Caller
from mailbox.access.limits import quotas
from mailbox.access.requests import Request
from mailbox.database import write_turns
from mailbox.journal import compacted_tasks
from mailbox.life import push_configs
from mailbox.models.push import PushDeliveryQuerySet
from mailbox.models.task import TaskQuerySet
from mailbox.models.task_indexes import OF_OTHER_DIALECTS
from mailbox.upkeep import rollups
from mailbox.words import json_text
from mailbox.words.kinds import Entry
from mailbox.words.secret_box import UnreadableSecretError

WINDOWS_KEPT = timedelta(days=7)  # longer than every window, and than the claims of `rate_windows.once`
BATCH = 500
READ_AT_ONCE = 25
# How long the rows of a receive attempt stay after its lease or result has ended, so that its id stays spent. A request
# that its client has given up waits 60 s at most. The rest is for its time in queues: of proxies, of web workers.
SPENT_IDS_KEPT = timedelta(minutes=10)


def tidy(now: datetime | None = None) -> int:
    """Delete old callbacks, peers, rate windows and sessions; return how many rows, without those of sessions.

    Callbacks stay for A2A_RETENTION_CALLBACKS after their task was resolved, and until they were delivered or given up.
    Peers stay for A2A_RETENTION_PEERS after their last report, rate windows for `WINDOWS_KEPT` after their last
    request. Each transaction deletes at most `BATCH` rows. Journals nothing.
    """
    now = now or timezone.now()
    total = _callbacks(now) + _peers(now) + _rate_windows(now)
    with write_turns.turn():
        import_module(settings.SESSION_ENGINE).SessionStore.clear_expired()
    return total


def drop_callbacks(some: PushDeliveryQuerySet) -> int:
    """Delete those of ``some`` callbacks that were delivered or given up, with their attempts; return how many.

    Runs in the current transaction. Locks the callbacks, and skips callbacks that are locked elsewhere.
    """
    keys = list(some.finished().select_for_update(skip_locked=True).values_list("pk", flat=True))
    return models.PushDelivery.objects.filter(pk__in=keys).delete()[1].get("mailbox.PushDelivery", 0)


def _callbacks(now: datetime) -> int:
    """Delete old callbacks with their attempts. Keys and times have nearly the same order, so no index is needed."""
    before, total = now - settings.A2A_RETENTION_CALLBACKS, 0
    while True:
        oldest = models.PushDelivery.objects.finished().order_by("pk").values_list("pk", "created_at")[:BATCH]
        old = [key for key, created_at in oldest if created_at <= before]
        with write_turns.turn(), transaction.atomic():
            dropped = drop_callbacks(models.PushDelivery.objects.filter(pk__in=old))
        total += dropped
        if len(old) < BATCH or not dropped:  # none: all of them are locked elsewhere
            return total


def _peers(now: datetime) -> int:
    total = 0
    while True:
        silent = models.Peer.objects.filter(last_seen_at__lte=now - settings.A2A_RETENTION_PEERS)
        old = list(silent.order_by("last_seen_at").values_list("pk", flat=True)[:BATCH])
        with write_turns.turn():
            total += silent.filter(pk__in=old).delete()[0]
        if len(old) < BATCH:
            return total


def _rate_windows(now: datetime) -> int:
    """Delete windows without a request in `WINDOWS_KEPT`, unless a request is counted meanwhile."""
    before, total = now - WINDOWS_KEPT, 0
    rows = models.RateWindow.objects.filter(started_at__lte=before).values_list("pk", "counted")
    for key, counted in list(rows):
        if all(_moment(at) <= before for at, _ in json_text.loads(counted)):
            with write_turns.turn():
                total += models.RateWindow.objects.filter(pk=key, counted=counted).delete()[0]
    return total


def _moment(microseconds: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """How long a finished task is kept after its result was acknowledged, or delivered but not acknowledged."""

    acked: timedelta = timedelta(hours=1)
    delivered: timedelta = timedelta(days=7)

    @classmethod
    def from_settings(cls) -> Retention:
        return cls(acked=settings.A2A_RETENTION_ACKED, delivered=settings.A2A_RETENTION_DELIVERED)


def compact(caller: Caller, retention: Retention) -> int:
    """Delete resolved tasks whose result was acknowledged or delivered, past their retention; return how many.

    Needs ``a2a.compact``. A task stays while a task that stays names it as parent, so that no tree is cut. Tasks that
    are queued, leased or not delivered stay, and so do cached results and the journal. A task stays while a webhook of
    it has something to tell. Callbacks of a deleted task that were delivered or given up are deleted with it. A task
    with a receive attempt id stays for `SPENT_IDS_KEPT` after that lease ended, or that result was delivered or
    acknowledged.

    The tasks are read by index, outside of any transaction. Each transaction deletes at most `BATCH` of them, after it
    has checked them again, and skips locked rows. Journals ``a2a_tasks_compacted`` for each task. That row answers
    repeated sends and results later. Source: Covenant A2A, compaction; idempotency policy.
    """
    with audit.decision(caller) as journal:
        journal.admit(Request.to_compact())
        now = journal.now
    finished = _finished(retention, now)
    return _drop_in_batches(caller, finished, lambda: _to_drop(retention, now), reason="retention")


def cap_sent(caller: Caller, *, dialect: str, cap: int, sender: models.Agent | None = None, cycle: int = 100) -> int:
    """Delete the oldest finished tasks of ``sender`` in a dialect if it has more than ``cap`` tasks there.

    At most ``cycle`` tasks are deleted for one sender; returns how many. ``sender`` None: every sender has the same cap
    and cycle. A task is deleted only if its result was delivered, acknowledged, or shown to its sender by a poll. So
    nothing is deleted if the other results have not reached the sender. For a given ``sender``, only its oldest
    ``cap + cycle`` tasks are looked at, because it waits for the answer. Tasks with a receive attempt id stay as in
    `compact`. Journals ``a2a_tasks_compacted`` for each task.

    Source: corvid-agent, "Task store", which keeps 1,000 tasks and deletes 100 in a cycle.
    """
    of_dialect = models.Task.objects.filter(OF_OTHER_DIALECTS, dialect=dialect)
    reached = of_dialect.filter(_has_reached_its_sender()).exclude(_spent_lately(timezone.now()))
    if sender is None:
        candidates = [reached.filter(sender=over) for over in _senders_of_more_than(cap, of_dialect)]
    else:
        oldest = list(of_dialect.filter(sender=sender).order_by("pk").values_list("pk", flat=True)[: cap + cycle])
        candidates = [reached.filter(sender=sender, pk__lte=oldest[-1])] if len(oldest) > cap else []
    return sum(_drop(caller, reached, _keys(tasks, cycle), reason="cap") for tasks in candidates)


def clear(caller: Caller, *, dialect: str) -> int:
    """Delete every resolved task of a dialect, delivered or not; return how many. Needs ``a2a.compact``.

    Tasks with a receive attempt id stay as in `compact`.
    """
    with audit.decision(caller) as journal:
        journal.admit(Request.to_compact())
        now = journal.now
    resolved = models.Task.objects.filter(dialect=dialect, state=models.Task.State.RESOLVED).exclude(_spent_lately(now))
    return _drop_in_batches(caller, resolved, lambda: _keys(resolved, BATCH), reason="cleared")


def _senders_of_more_than(many: int, tasks: TaskQuerySet) -> Sequence[int]:
    counted = tasks.order_by().values("sender").annotate(sent=Count("pk")).filter(sent__gt=many)
    return list(counted.values_list("sender", flat=True))


def _has_reached_its_sender() -> Q:
    return Q(result__delivery__in=[models.Result.Delivery.DELIVERED, models.Result.Delivery.ACKED]) | Q(
        result__shown_at__isnull=False
    )


def _finished(retention: Retention, now: datetime) -> TaskQuerySet:
    acked = Q(result__delivery=models.Result.Delivery.ACKED, result__acked_at__lte=now - retention.acked)
    delivered = Q(
        result__delivery=models.Result.Delivery.DELIVERED, result__delivered_at__lte=now - retention.delivered
    )
    finished = models.Task.objects.filter(acked | delivered, state=models.Task.State.RESOLVED)
    return finished.exclude(_has_child("pk", "uuid")).exclude(_spent_lately(now)).exclude(_has_open_webhook("pk"))


def _has_child(key: str, task_id: str) -> Exists:
    """Whether another task names this one as parent. ``key`` and ``task_id`` are the fields of its key and id."""
    return Exists(models.Task.objects.filter(parent=OuterRef(task_id)).exclude(pk=OuterRef(key)))


def _has_open_webhook(key: str) -> Exists:
    """Whether a webhook of the task has something to tell. ``key`` is the field of the task's key."""
    return Exists(models.PushConfig.objects.open().filter(task=OuterRef(key)))


def _spent_lately(now: datetime, *, task: str = "pk", result: str = "result__") -> Q:
    """Whether a receive attempt must still find its rows of this task.

    ``task`` is the field of the task's key, and ``result`` the path to the fields of its result.
    """
    since = now - SPENT_IDS_KEPT
    leases = models.Lease.objects.filter(task=OuterRef(task), receive_attempt_id__isnull=False, ended_at__gt=since)
    delivered = Q((f"{result}delivered_at__gt", since)) | Q((f"{result}acked_at__gt", since))
    return Q(Exists(leases)) | Q((f"{result}receive_attempt_id__isnull", False)) & delivered


def _to_drop(retention: Retention, now: datetime) -> Sequence[int]:
    """Return the keys of up to `BATCH` of the `_finished` tasks, the earliest acknowledged first."""
    acked = models.Result.objects.acked_until(now - retention.acked)
    delivered = models.Result.objects.delivered_until(now - retention.delivered)
    keys: list[int] = []
    for results in (acked, delivered):
        free = (
            results.exclude(_has_child("task_id", "task__uuid"))
            .exclude(_spent_lately(now, task="task_id", result=""))
            .exclude(_has_open_webhook("task_id"))
        )
        keys += free.values_list("task_id", flat=True)[: BATCH - len(keys)]
    return keys


def _keys(tasks: TaskQuerySet, limit: int) -> Sequence[int]:
    """Return the keys of up to ``limit`` of these tasks, oldest first."""
    return list(tasks.order_by("pk").values_list("pk", flat=True)[:limit])


def _drop_in_batches(
    caller: Caller, finished: TaskQuerySet, candidates: Callable[[], Sequence[int]], *, reason: str
) -> int:
    total = 0
    while keys := candidates():
        dropped = _drop(caller, finished, keys, reason=reason)
        total += dropped
        if not dropped:  # all of them are locked elsewhere
            break
    return total


def _drop(caller: Caller, tasks: TaskQuerySet, keys: Sequence[int], *, reason: str) -> int:
    """Delete the tasks with these keys, with their leases, messages, artifacts and results; return how many.

    Tasks that are locked, or no longer among ``tasks``, stay. The journal rows are made before the transaction, because
    large payloads would prolong it. The content of a resolved task never changes.
    """
    rows = _rows(keys, reason)
    with audit.decision(caller) as journal:
        free = tasks.filter(pk__in=keys).order_by("pk").select_for_update(skip_locked=True, of=("self",))
        free_keys = list(free.values_list("pk", flat=True))
        if not free_keys:
            return 0
        rollups.keep(free_keys)
        sizes = models.Task.objects.filter(pk__in=free_keys).values_list("sender").annotate(size=Sum("size")).order_by()
        freed = dict(sizes)
        for model in (models.Result, models.Failure, models.Message, models.Artifact, models.Lease):
            model._default_manager.filter(task__in=free_keys).delete()
        ids = models.Task.objects.filter(pk__in=free_keys).values("uuid")
        drop_callbacks(models.PushDelivery.objects.filter(task_uuid__in=ids))
        models.Task.objects.filter(pk__in=free_keys).delete()
        for key in free_keys:
            journal.beside(rows[key])
    quotas.give_back(freed)
    return len(free_keys)


def _rows(keys: Sequence[int], reason: str) -> Mapping[int, Entry]:
    """Return the journal row of each task's compaction, by the task's key.

    The row answers repeated sends and results later. Payloads may be large: `READ_AT_ONCE` tasks are read at a time.
    """
    rows: dict[int, Entry] = {}
    for start in range(0, len(keys), READ_AT_ONCE):
        some = models.Task.objects.with_parties().select_related("result")
        chosen = keys[start : start + READ_AT_ONCE]
        closing = {
            message.task_id: message.blocks for message in models.Message.objects.filter(task__in=chosen).closing()
        }
        configs = models.PushConfig.objects.filter(task__in=chosen, protocol=models.PushConfig.Protocol.CALLBACK)
        targets = {config.task_id: config for config in configs}
        for task in some.filter(pk__in=chosen):
            callback = _callback(targets.get(task.pk))
            rows[task.pk] = compacted_tasks.kept(task, callback, reason, closing.get(task.pk, ()))
    return rows


def _callback(config: models.PushConfig | None) -> compacted_tasks.Callback | None:
    """Return the target of a task's callback; None if its secret is unreadable."""
    try:
        return push_configs.callback_of(config)
    except UnreadableSecretError:
        return None
