"""The constraints of every task, in both databases."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

CONSTRAINTS = [
    models.CheckConstraint(
        condition=Q(state="resolved", resolved_at__isnull=False, outcome__isnull=False)
        | Q(~Q(state="resolved"), resolved_at=None, outcome=None),
        name="task_resolved_at_iff_resolved",
    ),
    models.CheckConstraint(condition=Q(waits_on=None) | Q(state="queued"), name="task_waits_only_in_queue"),
    # One unresolved task does the work of a cache key. Of two duplicates sent at once, one fails here.
    models.UniqueConstraint(
        fields=["cache_key"],
        condition=Q(state__in=["queued", "in_flight", "interrupted"], waits_on=None, cache_key__isnull=False),
        name="task_one_leader_per_cache_key",
    ),
    models.CheckConstraint(condition=Q(deadline_ms=None) | Q(deadline_ms__gte=0), name="task_deadline_not_negative"),
    models.CheckConstraint(
        # NULL IN (...) is unknown, which passes a check. So NULL is tested, too.
        condition=Q(duplicate_safety=None, idempotency_key=None)
        | Q(
            duplicate_safety__isnull=False,
            duplicate_safety__in=["unsafe", "idempotent"],
            idempotency_key__isnull=False,
        ),
        name="task_idempotency_is_whole",
    ),
    models.CheckConstraint(condition=~Q(state="in_flight") | Q(attempt__gte=1), name="task_in_flight_has_attempt"),
    models.CheckConstraint(
        condition=Q(state="interrupted", awaits__isnull=False, awaits__in=["input", "authorization"])
        | Q(~Q(state="interrupted"), awaits=None),
        name="task_awaits_iff_interrupted",
    ),
]
