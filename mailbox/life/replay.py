"""The idempotency cache: it answers duplicates of finished work, and lets duplicates of running work wait.

A cached result keeps its artifacts and closing words, which each task that it answers gets. These parts are a JSON
object with ``artifacts``, each whole, and with ``closing``, the blocks of the closing words. It also has
``closing_extra``, their details, and ``is_direct``, whether the result is one message and no task.

Source: Covenant idempotency policy, "Receiver-side result cache".
"""

import hashlib
from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Coalesce
from django.utils import timezone

from mailbox.access import audit
from mailbox.access.audit import Journal
from mailbox.access.callers import Caller
from mailbox.access.limits import quotas
from mailbox.access.requests import Request
from mailbox.journal import task_entries
from mailbox.life import outbox, task_limits
from mailbox.models import Artifact, Message, ReplayEntry, Result, Task
from mailbox.models.artifact import whole
from mailbox.words import json_text
from mailbox.words.envelopes import check_reason
from mailbox.words.errors import UnknownReplayEntryError

MOST = 1_048_576  # characters of the parts of a cached result, since each task that it answers gets a copy


def of(task: Task) -> str:
    """Return the parts of a resolved task as JSON text. Each artifact is whole."""
    named = [
        {
            "artifact_id": one.artifact_id,
            "content": one.blocks,
            "extra": json_text.dumps(one.details),
            "last_chunk": one.is_complete,
        }
        for one in whole(Artifact.objects.filter(task=task).in_order())
    ]
    closing = Message.objects.closing_of(task.pk, task.journal_seq).first()
    blocks, extra = (closing.blocks, closing.extra) if closing else ([], "{}")
    parts = {"artifacts": named, "closing": blocks, "closing_extra": extra, "is_direct": task.is_direct}
    return json_text.dumps(parts)


def produce(task: Task, parts: Mapping[str, Any], journal: Journal) -> int:
    """Give the kept artifacts to ``task``, which is unresolved and locked. Return their bytes.

    Journals ``a2a_task_updated`` for each, without a lease.
    """
    total = 0
    for kept in parts.get("artifacts", ()):
        content = json_text.dumps(kept["content"])
        size = task_limits.size_of_words(content, kept["artifact_id"], kept["extra"])
        task.change(size=task.size + size)
        Artifact.objects.create(
            task=task,
            seq=task.journal_seq,
            artifact_id=kept["artifact_id"],
            append=False,
            last_chunk=kept["last_chunk"],
            content=content,
            extra=kept["extra"],
            said_at=journal.now,
        )
        produced = task_entries.ArtifactData(
            artifact_id=kept["artifact_id"],
            append=False,
            last_chunk=kept["last_chunk"],
            blocks=len(kept["content"]),
            bytes=task_limits.size_of(content),
        )
        journal.life(task, task_entries.TaskUpdatedEntry(None, artifact=produced))
        total += size
    return total


def count_closing(task: Task, parts: Mapping[str, Any]) -> int:
    """Add the bytes of the kept closing words to the size of ``task``, which is resolved next. Return them."""
    size = task_limits.size_of_words(_closing(parts), "", _extra(parts)) if has_closing(parts) else 0
    task.size += size
    return size


def close(task: Task, parts: Mapping[str, Any], journal: Journal) -> None:
    """Store the kept closing words of ``task``, which was just resolved."""
    if has_closing(parts):
        Message.objects.create(
            task=task, seq=task.journal_seq, content=_closing(parts), extra=_extra(parts), said_at=journal.now
        )


def has_closing(parts: Mapping[str, Any]) -> bool:
    """Whether the parts have closing words, or details of a result whose words are its content."""
    return bool(parts.get("closing")) or _extra(parts) != "{}"


def _closing(parts: Mapping[str, Any]) -> str:
    return json_text.dumps(parts.get("closing", []))


def _extra(parts: Mapping[str, Any]) -> str:
    """Return the details of the closing words; parts that an earlier version kept have none."""
    return str(parts.get("closing_extra", "{}"))


def cache_key(task: Task) -> str | None:
    """Return the cache key of ``task``: a digest of its sender, recipient, kind of work and trimmed idempotency key.

    None unless the task declares that it is idempotent, with a key.
    """
    if not task.is_idempotent:
        return None
    parts = [task.sender.pubkey, task.recipient.pubkey, _work_kind(task), (task.idempotency_key or "").strip()]
    return hashlib.sha256(json_text.dumps(parts).encode()).hexdigest()


def leader(key: str) -> Task | None:
    """Lock and return the unresolved task that does the work of ``key``; None without one."""
    leading = Task.objects.leading(key)
    while leading.exists():
        # The leader may have ended while its lock was awaited, and woken another task.
        if (locked := leading.locked().first()) is not None:
            return locked
    return None


def find(key: str, now: datetime) -> ReplayEntry | None:
    """Return the cached result for ``key``; None if there is none, or its time to live has passed."""
    return ReplayEntry.objects.live(now).filter(cache_key=key).first()


def answer(task: Task, entry: ReplayEntry, journal: Journal) -> Result:
    """Resolve ``task`` with the cached result, without a lease, and count the hit.

    The task gets its own rows of the artifacts and of the closing words.
    """
    hits = ReplayEntry.objects.filter(pk=entry.pk)
    hits.update(hits=F("hits") + 1, first_hit_at=Coalesce("first_hit_at", journal.now), last_hit_at=journal.now)
    parts: Mapping[str, Any] = json_text.loads(entry.parts)
    size = produce(task, parts, journal) + count_closing(task, parts)
    result = task.resolve(
        Task.Outcome(entry.status),
        journal.now,
        content=json_text.loads(entry.content),
        error_message=entry.error_message,
        replayed_from=entry.source_task_id,
        is_direct=bool(parts.get("is_direct")),
        has_more=bool(parts.get("artifacts")) or has_closing(parts),
    )
    close(task, parts, journal)
    transaction.on_commit(partial(quotas.grow_by_result, task.sender_id, result.size + size))
    outbox.enqueue(task, result, journal.now)
    journal.life(task, task_entries.ResultReplayedEntry(entry.source_task_id, entry.status))
    return result


def settle(task: Task, result: Result, journal: Journal) -> None:
    """Cache the result of ``task``, which was just resolved, and answer or wake the duplicates that waited on it.

    Only a posted result whose status is in ``A2A_REPLAY_STATUSES`` is cached, unless its artifacts and closing words
    exceed `cached_parts.MOST`. It replaces an earlier result, and answers every task that waits for this work. If the
    result is not cached, an earlier cached result answers the waiters. Without one the oldest waiter can be leased, at
    its old place in the queue, and the others wait on it.

    Locks the waiters of ``task`` in ascending order, and the cache row last. A transaction that locked a waiter never
    waits for another task. So results of a task and of its waiters that are posted at once cannot deadlock.
    """
    if task.cache_key is None:
        return
    waiters = list(Task.objects.filter(waits_on=task).with_parties().locked().order_by("pk"))
    entry: ReplayEntry | None = None
    if (parts := _parts_to_cache(task, result)) is not None:
        waiters += _waiting_on_another(task.cache_key)
        entry = _store(task, result, parts, journal.now)
    elif waiters:
        entry = find(task.cache_key, journal.now)
    if entry is not None:
        for waiter in waiters:
            answer(waiter, entry, journal)
    elif waiters:
        _wake(waiters, task, journal)


def _parts_to_cache(task: Task, result: Result) -> str | None:
    """Return the parts of a result that is to be cached, as JSON text; None if it is not to be cached."""
    if result.posted_by is None or result.status not in settings.A2A_REPLAY_STATUSES:
        return None
    parts = of(task) if result.has_more or task.is_direct else "{}"
    return parts if len(parts) <= MOST else None


def _waiting_on_another(key: str) -> list[Task]:
    """Lock and return the tasks that wait on the current leader of ``key``, except tasks that are locked elsewhere.

    A task that is locked elsewhere is about to end, or gets the cached result when the leader ends.
    """
    leading = Task.objects.leading(key).first()
    if leading is None:
        return []
    waiting = Task.objects.filter(waits_on=leading).with_parties().order_by("pk")
    return list(waiting.select_for_update(skip_locked=True, no_key=True, of=("self",)))


def _wake(waiters: list[Task], ended: Task, journal: Journal) -> None:
    first, *others = waiters
    first.change(waits_on=None)
    journal.life(first, task_entries.TaskWokenEntry(ended.uuid))
    Task.objects.filter(pk__in=[other.pk for other in others]).update(waits_on=first)


def drop(caller: Caller, entry_id: int, *, reason: str, source_task_id: UUID | None = None) -> None:
    """Delete a cached result, so that the next duplicate runs. Needs ``a2a.replay.drop``, which operators hold.

    ``source_task_id`` guards against deleting a newer result that has replaced the one of this task. Raises
    `InvalidRequestError` for a blank reason, a capability error, `UnknownReplayEntryError`. Locks the entry; journals
    ``a2a_replay_dropped`` with the reason, for the task that earned the result.
    """
    reason = check_reason(reason)
    with audit.decision(caller) as journal:
        journal.admit(Request.to_drop_replay(entry_id))
        entry = ReplayEntry.objects.select_for_update().filter(pk=entry_id).first()
        if entry is None:
            raise UnknownReplayEntryError(f"No cached result has the number {entry_id}.", entry_id=entry_id)
        if source_task_id is not None and source_task_id != entry.source_task_id:
            raise UnknownReplayEntryError(
                f"Cached result {entry_id} was replaced by the result of another task.", entry_id=entry_id
            )
        journal.beside(task_entries.ReplayDroppedEntry(entry.pk, entry.key, entry.source_task_id, reason))
        entry.delete()


def drop_expired(caller: Caller, *, batch: int = 500) -> int:
    """Delete the entries whose time to live has passed; return how many.

    Each transaction deletes at most ``batch`` entries. It skips locked entries, because a new result may be about to
    replace them. Each entry is journalled as `drop` does, with the reason ``expired``.
    """
    total = 0
    while ReplayEntry.objects.expired(timezone.now()).exists():
        with audit.decision(caller) as journal:
            expired = list(ReplayEntry.objects.expired(journal.now).select_for_update(skip_locked=True)[:batch])
            for entry in expired:
                journal.beside(task_entries.ReplayDroppedEntry(entry.pk, entry.key, entry.source_task_id, "expired"))
            ReplayEntry.objects.filter(pk__in=[entry.pk for entry in expired]).delete()
        total += len(expired)
        if len(expired) < batch:
            break
    return total


def _store(task: Task, result: Result, parts: str, now: datetime) -> ReplayEntry:
    ttl = settings.A2A_REPLAY_TTL
    entry, _ = ReplayEntry.objects.update_or_create(
        cache_key=task.cache_key,
        defaults={
            "sender_pubkey": task.sender.pubkey,
            "recipient_pubkey": task.recipient.pubkey,
            "task_kind": _work_kind(task),
            "key": (task.idempotency_key or "").strip(),
            "source_task_id": task.uuid,
            "status": result.status,
            "content": result.content,
            "error_message": result.error_message,
            "parts": parts,
            "stored_at": now,
            "expires_at": now + ttl if ttl else None,
            # The hits of an earlier result do not count for this result.
            "hits": 0,
            "first_hit_at": None,
            "last_hit_at": None,
        },
    )
    return entry


def _work_kind(task: Task) -> str:
    """Return the kind of work of ``task``: its declared kind, else its whole intent text."""
    return (task.task_kind or "").strip() or task.intent_text
