"""The idempotency cache: duplicates of finished work are answered, duplicates of running work wait.

Source: Covenant idempotency policy, "Receiver-side result cache".
"""

from __future__ import annotations

import hashlib
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.db.models import F
from django.db.models.functions import Coalesce
from django.utils import timezone

from mailbox.gate import audit, entries
from mailbox.gate.audit import Journal
from mailbox.gate.callers import Caller
from mailbox.gate.requests import Request
from mailbox.models import ReplayEntry, Result, Task
from mailbox.verbs.life import callbacks
from mailbox.words import json_text
from mailbox.words.envelopes import check_reason
from mailbox.words.errors import UnknownReplayEntryError


def cache_key(task: Task) -> str | None:
    """Return the key under which ``task`` repeats others: sender, recipient, kind and trimmed key.

    The kind is the declared one, else the whole intent text. None when the task does not declare
    idempotent with a key.
    """
    if not task.is_idempotent:
        return None
    parts = [task.sender.pubkey, task.recipient.pubkey, _work_kind(task), (task.idempotency_key or "").strip()]
    return hashlib.sha256(json_text.dumps(parts).encode()).hexdigest()


def leader(key: str) -> Task | None:
    """Lock and return the unresolved task that does the work of ``key``; None when none does."""
    leading = Task.objects.leading(key)
    while leading.exists():
        # A leader that ended while its lock was awaited may have woken another: look again.
        if (locked := leading.locked().first()) is not None:
            return locked
    return None


def find(key: str, now: datetime) -> ReplayEntry | None:
    """Return the cached result for ``key``; None when there is none, or it is past its time to live."""
    return ReplayEntry.objects.live(now).filter(cache_key=key).first()


def answer(task: Task, entry: ReplayEntry, journal: Journal) -> Result:
    """Resolve ``task`` with the cached result, under its own id, and count the hit; nothing is leased."""
    hits = ReplayEntry.objects.filter(pk=entry.pk)
    hits.update(hits=F("hits") + 1, first_hit_at=Coalesce("first_hit_at", journal.now), last_hit_at=journal.now)
    result = task.resolve(
        Task.Outcome(entry.status),
        journal.now,
        content=json_text.loads(entry.content),
        error_message=entry.error_message,
        replayed_from=entry.source_task_id,
    )
    callbacks.enqueue(task, result, journal.now)
    journal.life(task, entries.result_replayed(entry.source_task_id, entry.status))
    return result


def settle(task: Task, result: Result, journal: Journal) -> None:
    """After ``task`` resolved: cache what it earned, then answer or wake the duplicates that waited on it.

    Only a posted result whose status is in ``A2A_REPLAY_STATUSES`` is cached; the last one wins, and answers whoever
    waits for that work. Where nothing is stored, an answer that is cached already serves; only without one the oldest
    waiter becomes leasable, at the place in the queue it had, and the others wait on it.

    Locks the waiters of ``task`` in ascending order, and the cache's row last of all. Who holds a waiter alone waits
    for no other task: so the results of a task and of its waiters, posted at once, never wait for each other.
    """
    if task.cache_key is None:
        return
    waiters = list(Task.objects.filter(waits_on=task).with_parties().locked().order_by("pk"))
    entry: ReplayEntry | None = None
    if result.posted_by is not None and result.status in settings.A2A_REPLAY_STATUSES:
        waiters += _waiting_on_another(task.cache_key)
        entry = _store(task, result, journal.now)
    elif waiters:
        entry = find(task.cache_key, journal.now)
    if entry is not None:
        for waiter in waiters:
            answer(waiter, entry, journal)
    elif waiters:
        _wake(waiters, task, journal)


def _waiting_on_another(key: str) -> list[Task]:
    """Lock and return who waits on a task that does the work of ``key`` still, but for those in other hands.

    Those need not be waited for: they are about to end, or are answered from the cache when that task ends.
    """
    leading = Task.objects.leading(key).first()
    if leading is None:
        return []
    waiting = Task.objects.filter(waits_on=leading).with_parties().order_by("pk")
    return list(waiting.select_for_update(skip_locked=True, no_key=True, of=("self",)))


def _wake(waiters: list[Task], ended: Task, journal: Journal) -> None:
    first, *others = waiters
    first.change(waits_on=None)
    journal.life(first, entries.task_woken(ended.uuid))
    Task.objects.filter(pk__in=[other.pk for other in others]).update(waits_on=first)


def drop(caller: Caller, entry_id: int, *, reason: str, source_task_id: UUID | None = None) -> None:
    """Drop a cached result, so that the next duplicate runs. Needs ``a2a.replay.drop``, which operators hold.

    ``source_task_id`` guards against dropping the result of another task that has taken its place since.
    Raises `InvalidRequestError` for a blank reason, a capability error, `UnknownReplayEntryError`.
    Journals ``a2a_replay_dropped``, at the task whose result it was, with the entry's key and the reason.
    """
    reason = check_reason(reason)
    with audit.decision(caller) as journal:
        journal.admit(Request.to_drop_replay(entry_id))
        entry = ReplayEntry.objects.select_for_update().filter(pk=entry_id).first()
        if entry is None:
            raise UnknownReplayEntryError(f"no replay entry {entry_id} here", entry_id=entry_id)
        if source_task_id is not None and source_task_id != entry.source_task_id:
            raise UnknownReplayEntryError(f"replay entry {entry_id} holds another result by now", entry_id=entry_id)
        journal.beside(entries.replay_dropped(entry.pk, entry.key, entry.source_task_id, reason))
        entry.delete()


def drop_expired(caller: Caller, *, batch: int = 500) -> int:
    """Delete the entries past their time to live, a bounded transaction at a time; return how many.

    They answer nothing any more. Each is journalled as one dropped by hand is, with the reason ``expired``. Skips
    entries in use, which a new result may be about to replace.
    """
    total = 0
    while ReplayEntry.objects.expired(timezone.now()).exists():
        with audit.decision(caller) as journal:
            found = list(ReplayEntry.objects.expired(journal.now).select_for_update(skip_locked=True)[:batch])
            for entry in found:
                journal.beside(entries.replay_dropped(entry.pk, entry.key, entry.source_task_id, "expired"))
            ReplayEntry.objects.filter(pk__in=[entry.pk for entry in found]).delete()
        total += len(found)
        if len(found) < batch:
            break
    return total


def _store(task: Task, result: Result, now: datetime) -> ReplayEntry:
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
            "stored_at": now,
            "expires_at": now + ttl if ttl else None,
            # They count what this result answered, not the one whose place it takes.
            "hits": 0,
            "first_hit_at": None,
            "last_hit_at": None,
        },
    )
    return entry


def _work_kind(task: Task) -> str:
    """Return what kind of work ``task`` is: the declared kind, else the whole intent text."""
    return (task.task_kind or "").strip() or task.intent_text
