"""Retention: deletes old rows that belong to no task. They hold no decision, so the journal does not record this."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from importlib import import_module

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from mailbox.database import write_turns
from mailbox.models import Peer, PushDelivery, RateWindow
from mailbox.models.push import PushDeliveryQuerySet
from mailbox.words import json_text

BATCH = 500
WINDOWS_KEPT = timedelta(days=7)  # longer than every window, and than the claims of `rate_windows.once`


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
    return PushDelivery.objects.filter(pk__in=keys).delete()[1].get("mailbox.PushDelivery", 0)


def _callbacks(now: datetime) -> int:
    """Delete old callbacks with their attempts. Keys and times have nearly the same order, so no index is needed."""
    before, total = now - settings.A2A_RETENTION_CALLBACKS, 0
    while True:
        oldest = PushDelivery.objects.finished().order_by("pk").values_list("pk", "created_at")[:BATCH]
        old = [key for key, created_at in oldest if created_at <= before]
        with write_turns.turn(), transaction.atomic():
            dropped = drop_callbacks(PushDelivery.objects.filter(pk__in=old))
        total += dropped
        if len(old) < BATCH or not dropped:  # none: all of them are locked elsewhere
            return total


def _peers(now: datetime) -> int:
    total = 0
    while True:
        silent = Peer.objects.filter(last_seen_at__lte=now - settings.A2A_RETENTION_PEERS)
        old = list(silent.order_by("last_seen_at").values_list("pk", flat=True)[:BATCH])
        with write_turns.turn():
            total += silent.filter(pk__in=old).delete()[0]
        if len(old) < BATCH:
            return total


def _rate_windows(now: datetime) -> int:
    """Delete windows without a request in `WINDOWS_KEPT`, unless a request is counted meanwhile."""
    before, total = now - WINDOWS_KEPT, 0
    rows = RateWindow.objects.filter(started_at__lte=before).values_list("pk", "counted")
    for key, counted in list(rows):
        if all(_moment(at) <= before for at, _ in json_text.loads(counted)):
            with write_turns.turn():
                total += RateWindow.objects.filter(pk=key, counted=counted).delete()[0]
    return total


def _moment(microseconds: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)
