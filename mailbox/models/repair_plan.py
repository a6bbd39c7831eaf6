from __future__ import annotations

from datetime import datetime, timedelta
from typing import ClassVar
from uuid import UUID

from django.db import models
from django.db.models import Count, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce

from mailbox.database.managers import managed_by
from mailbox.models.lease import Lease, LeaseQuerySet
from mailbox.models.task import Task, id_of_copy

LONGEST_CLAIM = timedelta(minutes=5)  # longer than any process claims a plan
INTENT_KEPT = 200  # characters of the text, so that a receipt can be read after its tasks are compacted


class RepairPlanQuerySet(models.QuerySet["RepairPlan"]):
    def applying(self) -> RepairPlanQuerySet:
        """Narrow to plans that are under way, oldest first."""
        return self.filter(state=RepairPlan.State.APPLYING).order_by("pk")

    def with_counts(self) -> RepairPlanQuerySet:
        """Add how many ``leases`` each holds, and how many of them were ``repaired``."""
        rows = RepairPlanRow.objects.filter(plan=OuterRef("pk"))
        done = rows.that_became(RepairPlanRow.Outcome.DONE)
        return self.annotate(leases=_how_many(rows), repaired=_how_many(done))

    def locked(self) -> RepairPlanQuerySet:
        return self.select_for_update(of=("self",))

    def claimed(self, pk: int, now: datetime, until: datetime) -> bool:
        """Keep a plan that is under way to this worker until ``until``; False when another worker has it.

        A claim beyond `LONGEST_CLAIM` does not count: its time was taken from a clock that ran ahead.
        """
        free = Q(worked_until=None) | Q(worked_until__lte=now) | Q(worked_until__gt=now + LONGEST_CLAIM)
        return self.filter(free, pk=pk, state=RepairPlan.State.APPLYING).update(worked_until=until) == 1

    def released(self, pk: int, until: datetime, now: datetime) -> None:
        """Give back what was claimed until ``until``; a plan without a row left to try is done."""
        mine = self.filter(pk=pk, worked_until=until)
        if RepairPlanRow.objects.filter(plan=pk).pending().exists():
            mine.update(worked_until=None)
        else:
            mine.update(worked_until=None, state=RepairPlan.State.DONE, finished_at=now)


def _how_many(rows: RepairPlanRowQuerySet) -> Coalesce:
    return Coalesce(Subquery(rows.order_by().values("plan").annotate(rows=Count("pk")).values("rows")), 0)


class RepairPlan(models.Model):
    """A frozen list of leases to repair, or of failed tasks to send again.

    It is a preview, and once it is applied the receipt.
    """

    class Verb(models.TextChoices):
        REQUEUE = "requeue"
        FORCE_ERROR = "force_error"
        SEND_AGAIN = "send_again"  # its rows are failed tasks instead of leases

    class State(models.TextChoices):
        PREVIEW = "preview"  # may be applied until expires_at
        APPLYING = "applying"  # rows are left to try
        DONE = "done"
        DISCARDED = "discarded"

    token = models.UUIDField(unique=True)  # the id of the form: a form that is sent twice makes one plan
    verb = models.CharField(max_length=20, choices=Verb.choices)
    query = models.CharField(
        max_length=600, blank=True
    )  # the search that chose the leases; blank: a person picked them
    among = models.CharField(
        max_length=600, blank=True, default=""
    )  # the search of the list from which they were picked
    matching = models.PositiveIntegerField()  # number of leases that matched; the oldest of them are in the plan
    after = models.ForeignKey(
        "self", models.PROTECT, null=True, related_name="+"
    )  # the earlier plan whose rows it repeats
    max_attempts = models.PositiveIntegerField()  # of the retry policy when the plan was made
    state = models.CharField(max_length=10, choices=State.choices, default=State.PREVIEW)
    made_by = models.CharField(max_length=250)
    made_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    decided_by = models.CharField(max_length=250, blank=True)  # the person who applied or discarded it
    decided_at = models.DateTimeField(null=True)
    reason = models.CharField(max_length=500, blank=True)  # why it was applied
    message = models.TextField(blank=True)  # the error message for the senders, for force_error
    worked_until = models.DateTimeField(null=True)  # until when one process works on it alone; None: no process does
    finished_at = models.DateTimeField(null=True)  # when the last row was settled

    objects: ClassVar[RepairPlanQuerySet] = managed_by(RepairPlanQuerySet)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(state="preview", decided_at=None) | (~Q(state="preview") & Q(decided_at__isnull=False)),
                name="repair_plan_decided_iff_closed",
            )
        ]

    def __str__(self) -> str:
        return f"plan #{self.pk}"

    @property
    def request_id(self) -> str:
        """The request id of the journal rows of its repairs."""
        return f"plan:{self.pk}"

    def is_worked_on(self, now: datetime) -> bool:
        """Whether a process has claimed the plan."""
        return self.worked_until is not None and now < self.worked_until <= now + LONGEST_CLAIM

    def has_expired(self, now: datetime) -> bool:
        return self.state == self.State.PREVIEW and self.expires_at <= now


class RepairPlanRowQuerySet(models.QuerySet["RepairPlanRow"]):
    def pending(self) -> RepairPlanRowQuerySet:
        """Narrow to the rows that are still to be repaired."""
        return self.exclude(verdict=RepairPlanRow.Verdict.SKIPPED).filter(outcome=None)

    def planned(self) -> RepairPlanRowQuerySet:
        """Narrow to the rows that were or will be repaired."""
        left = Q(outcome=RepairPlanRow.Outcome.LEFT, outcome__isnull=False)
        return self.exclude(verdict=RepairPlanRow.Verdict.SKIPPED).exclude(left)

    def judged(self, verdict: str) -> RepairPlanRowQuerySet:
        return self.filter(verdict=verdict)

    def that_became(self, outcome: str) -> RepairPlanRowQuerySet:
        return self.filter(outcome=outcome)

    def in_group(self, name: str) -> RepairPlanRowQuerySet:
        """Narrow to the rows of a verdict or outcome, to `pending` or `planned` rows. Any other name is all rows."""
        if name in RepairPlanRow.Verdict.values:
            return self.judged(name)
        if name in RepairPlanRow.Outcome.values:
            return self.that_became(name)
        return {"pending": self.pending, "planned": self.planned}.get(name, self.all)()

    def locked(self) -> RepairPlanRowQuerySet:
        return self.select_for_update(of=("self",))

    def in_order(self) -> RepairPlanRowQuerySet:
        return self.order_by("pk")

    def tally(self) -> dict[tuple[str, str | None, bool], int]:
        """Return the number of rows by verdict, outcome and whether the task is idempotent."""
        kinds = self.order_by().values_list("verdict", "outcome", "is_idempotent").annotate(rows=Count("pk"))
        return {(verdict, outcome, safe): rows for verdict, outcome, safe, rows in kinds}

    def settle(self, outcome: str, detail: str, now: datetime) -> int:
        """Store the outcome of pending rows, and of no other rows; return how many."""
        return self.pending().update(outcome=outcome, detail=detail, settled_at=now)

    def leases(self) -> LeaseQuerySet:
        """Return the leases of these rows, live or ended, that were not compacted."""
        return Lease.objects.filter(lease_id__in=self.values("lease_id"))

    def leases_again(self) -> LeaseQuerySet:
        """Return the live leases of the tasks of these rows."""
        return Lease.objects.live().filter(task__in=Task.objects.filter(uuid__in=self.values("task_id")))


class RepairPlanRow(models.Model):
    """One lease or failed task of a plan, as it was when the plan was made, and the outcome of its repair.

    A failed task has its recipient as ``holder``, and the time of its end as ``leased_at``.

    Plain copies, so that the receipt outlives what it tells of.
    """

    class Verdict(models.TextChoices):
        READY = "ready"  # it will be repaired
        CONSENT = "consent"  # not safe to repeat: repaired only with the person's consent
        SKIPPED = "skipped"  # not repaired; ``detail`` is the reason

    class Outcome(models.TextChoices):
        DONE = "done"
        CHANGED = "changed"  # the lease had ended, or another plan sent the task again
        COMPLETED = "completed"  # the task was resolved meanwhile
        REFUSED = "refused"  # the person lacks the capability
        FAILED = "failed"  # any other error; ``detail`` is its message
        LEFT = "left"  # not repaired without consent

    plan = models.ForeignKey(RepairPlan, models.CASCADE, related_name="rows")
    task_id = models.UUIDField()
    lease_id = models.UUIDField(null=True)  # None: a failed task that is sent again
    intent = models.CharField(max_length=INTENT_KEPT)
    sender = models.CharField(max_length=250)
    holder = models.CharField(max_length=250)
    attempt = models.PositiveIntegerField()
    leased_at = models.DateTimeField()
    is_idempotent = models.BooleanField()
    verdict = models.CharField(max_length=10, choices=Verdict.choices)
    outcome = models.CharField(max_length=10, choices=Outcome.choices, null=True)  # None: not repaired yet
    detail = models.CharField(max_length=500, blank=True)
    settled_at = models.DateTimeField(null=True)

    objects: ClassVar[RepairPlanRowQuerySet] = managed_by(RepairPlanRowQuerySet)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["plan", "lease_id"], name="repair_plan_row_unique"),
            models.UniqueConstraint(
                fields=["plan", "task_id"], name="repair_plan_copy_unique", condition=Q(lease_id=None)
            ),
            models.CheckConstraint(
                condition=Q(outcome=None, settled_at=None) | Q(outcome__isnull=False, settled_at__isnull=False),
                name="repair_plan_row_settled_iff_outcome",
            ),
        ]

    def __str__(self) -> str:
        return f"attempt {self.attempt} of {self.task_id}"

    @property
    def copy_id(self) -> UUID | None:
        """The id of the task as which a failed task is sent again; None for a lease."""
        return id_of_copy(self.task_id) if self.lease_id is None else None
