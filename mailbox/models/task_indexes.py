"""The constraints and indexes of the tasks, with the queries that use them.

An index slows down every change of its tasks.
"""

from django.db import models
from django.db.models import Q
from django.db.models.expressions import RawSQL

# Narrows to the dialects beside the hub's own. SQLite uses their indexes only if a literal excludes that one.
OF_OTHER_DIALECTS = ~Q(RawSQL("mailbox_task.dialect = 'mailbox'", (), models.BooleanField()))


INDEXES = [
    models.Index(fields=["waits_on"], name="task_waiters", condition=Q(waits_on__isnull=False)),
    # backlogs: queued tasks of an agent that wait on another task.
    models.Index(fields=["recipient"], name="task_waiting_for", condition=Q(state="queued", waits_on__isnull=False)),
    # leasing.lease_tasks: the oldest queued task of one recipient.
    models.Index(
        fields=["recipient", "queued_at", "id"],
        name="task_lease_order",
        condition=Q(state="queued", waits_on=None),
    ),
    # inspection: queued tasks of one sender.
    models.Index(fields=["sender", "queued_at", "id"], name="task_queued_by_sender", condition=Q(state="queued")),
    # expiry: queued and interrupted tasks past their deadline.
    models.Index(
        fields=["deadline_ms"],
        name="task_open_by_deadline",
        condition=Q(state__in=["queued", "interrupted"], deadline_ms__isnull=False),
    ),
    # the list of tasks, newest first: interrupted tasks.
    models.Index(fields=["id"], name="task_interrupted", condition=Q(state="interrupted")),
    # backlogs: the open questions of one agent, and those to one agent, the oldest first.
    models.Index(fields=["recipient", "status_at"], name="task_questions_of", condition=Q(state="interrupted")),
    models.Index(fields=["sender", "status_at"], name="task_questions_to", condition=Q(state="interrupted")),
    # the list of the official A2A protocol: the tasks of one sender for one recipient, newest status first.
    models.Index(
        fields=["sender", "recipient", "-status_at", "-id"], name="task_by_status_time", condition=Q(dialect="a2a")
    ),
    # compaction.cap_sent: the tasks of one dialect, oldest first.
    models.Index(fields=["dialect", "id"], name="task_by_dialect", condition=~Q(dialect="mailbox")),
    # compaction.cap_sent, and the list of a dialect: the tasks of one sender in one dialect, oldest first.
    models.Index(
        fields=["sender", "dialect", "id"], name="task_by_sender_and_dialect", condition=~Q(dialect="mailbox")
    ),
    models.Index(fields=["parent"], name="task_children", condition=Q(parent__isnull=False)),
    # tree_list.newest: the newest children, whose roots are listed.
    models.Index(fields=["id"], name="task_newest_children", condition=Q(parent__isnull=False)),
    # search: the tasks of one idempotency key, newest first, and those of all keys with one beginning.
    models.Index(
        fields=["idempotency_key", "-id"],
        name="task_by_key_or_prefix",
        opclasses=["varchar_pattern_ops", "int8_ops"],
        condition=Q(idempotency_key__isnull=False),
    ),
    # search: the tasks of one conversation, newest first.
    models.Index(fields=["context_id", "-id"], name="task_by_context", condition=Q(context_id__isnull=False)),
    # the list of tasks, newest first: of one agent, of a rare outcome, of one kind.
    models.Index(fields=["recipient", "id"], name="task_by_recipient"),
    models.Index(fields=["sender", "id"], name="task_by_sender"),
    models.Index(fields=["outcome", "id"], name="task_not_ok", condition=~Q(outcome="ok") & Q(outcome__isnull=False)),
    models.Index(fields=["task_kind", "id"], name="task_by_kind", condition=Q(task_kind__isnull=False)),
]


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
