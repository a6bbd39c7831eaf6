from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar

from django.db import models
from django.db.models import Case, Expression, F, Q, QuerySet, Subquery, Sum, Value, When
from django.db.models.functions import Coalesce, TruncHour

from mailbox.database.managers import Moment, managed_by

MINUTE = timedelta(minutes=1)
FINE = timedelta(hours=25)  # how far back minutes are read singly: a day, and the hour that its end is compared with
# A row has the time at which its decision began, and is visible once the decision commits. A decision lasts at most as
# long as a statement (30 s), a wait for a lock (10 s) and the idle time (60 s). Later a minute can no longer change.
SETTLES_AFTER = timedelta(minutes=2)
SPANS = (10, 60)  # minutes of a slot: of the last hours, and of the last day


def during(field: str, start: Moment, end: datetime | None, mark: str = "") -> Q:
    """Return the condition for rows whose ``field`` lies from ``start`` until before ``end``, None for until now.

    ``mark`` is the field of the roll-ups that bounds the keys of such rows, if there is one. No other index is then
    needed.
    """
    condition = Q(**{f"{field}__gte": start})
    if mark:
        condition &= Q(pk__gt=RollUp.objects.mark_before(start, mark))
    if end is None:
        return condition
    if mark:
        condition &= Q(pk__lte=RollUp.objects.mark_after(end, mark))
    return condition & Q(**{f"{field}__lt": end})


class RollUpQuerySet(models.QuerySet["RollUp"]):
    def of_hub(self) -> RollUpQuerySet:
        """Narrow to the rows of the whole hub, one for each minute that is rolled up."""
        return self.filter(agent=None)

    def open(self) -> RollUpQuerySet:
        """Narrow to the compacted rows of minutes that are not rolled up yet."""
        return self.filter(is_open=True)

    def since(self, start: Moment) -> RollUpQuerySet:
        return self.filter(minute__gte=start)

    def newest(self) -> RollUp | None:
        """Return the hub's row of the newest minute, which has all marks; None before the first roll-up."""
        return self.of_hub().order_by("-minute").first()

    def mark_before(self, moment: Moment, mark: str) -> Coalesce:
        """Return, as an expression, a key up to which all rows are older than ``moment``."""
        over = self._marked().filter(minute__lte=moment - MINUTE).order_by("-minute")
        return Coalesce(Subquery(over.values(mark)[:1]), 0)

    def mark_after(self, moment: datetime, mark: str) -> Coalesce:
        """Return, as an expression, a key after which no row is older than ``moment``."""
        settled = self._marked().filter(minute__gte=moment + SETTLES_AFTER - MINUTE).order_by("minute")
        return Coalesce(Subquery(settled.values(mark)[:1]), models.BigAutoField.MAX_BIGINT)

    def _marked(self) -> RollUpQuerySet:
        return self.of_hub().filter(last_task__isnull=False)

    def for_results(
        self,
        start: Moment,
        agents: Collection[int | Expression],
        agents_start: Moment,
        runs_from: Moment,
        fine: Moment | None,
    ) -> list[QuerySet[RollUp, tuple[Any, ...]]]:
        """Return (agent, is_open, last_result, minute, ok, partial, error, replayed, runs) of many minutes, in parts.

        The parts are the hub's rows from ``start`` and its newest row, the rows of ``agents``, and all open rows.
        ``runs`` is empty before ``runs_from``. Before ``fine``, the hub's rows are summed by hour; None: none is. The
        parts are for a union, because each uses an index of its own. A row can be in two parts.
        """
        runs = Case(When(minute__gte=runs_from, then=F("runs")), default=Value("{}"), output_field=models.TextField())
        newest = self.of_hub().order_by("-minute").values("minute")[:1]
        parts: list[QuerySet[RollUp, tuple[Any, ...]]] = [
            part.annotate(told=runs).values_list(
                "agent", "is_open", "last_result", "minute", "ok", "partial", "error", "replayed", "told"
            )
            for part in (
                self.of_hub().since(fine or start),
                self.of_hub().filter(minute=Subquery(newest)),
                self.open(),
                *([self.filter(agent__id__in=agents, minute__gte=agents_start, is_open=False)] if agents else ()),
            )
        ]
        if fine is None:
            return parts
        return [*parts, self.of_hub().since(start).filter(minute__lt=fine).exclude(minute=Subquery(newest)).by_hour()]

    def by_hour(self) -> QuerySet[RollUp, tuple[Any, ...]]:
        """Sum the rows by hour. A sum looks like an open row without an agent, so that it replaces no minute."""
        nothing = Value(None, output_field=models.BigIntegerField())
        hours = self.order_by().annotate(
            none=nothing, added=Value(True), mark=nothing, hour=TruncHour("minute", tzinfo=UTC)
        )
        grouped: Any = hours.values("none", "added", "mark", "hour").annotate(
            oks=Sum("ok"),
            partials=Sum("partial"),
            errors=Sum("error"),
            hits=Sum("replayed"),
            told=Value("{}", output_field=models.TextField()),
        )
        sums: QuerySet[RollUp, tuple[Any, ...]] = grouped.values_list(
            "none", "added", "mark", "hour", "oks", "partials", "errors", "hits", "told"
        )
        return sums


class RollUp(models.Model):
    """The counts of one minute, for an agent or for the whole hub. `mailbox.upkeep.rollups` makes them.

    A minute without any count may have no row.
    """

    agent = models.ForeignKey(  # the recipient of the tasks; None: the sum of all agents
        "mailbox.Agent", models.CASCADE, null=True, related_name="+", db_index=False
    )
    minute = models.DateTimeField()  # its beginning
    queued_in = models.PositiveIntegerField(default=0)  # tasks sent, also tasks answered from the cache
    leased = models.PositiveIntegerField(default=0)  # leases begun, also further attempts
    ok = models.PositiveIntegerField(default=0)  # results by status
    partial = models.PositiveIntegerField(default=0)
    error = models.PositiveIntegerField(default=0)  # also results of cancelled, rejected, expired and forced tasks
    replayed = models.PositiveIntegerField(default=0)  # those of these results that came from the cache
    waits = models.TextField(default="{}")  # `Latencies` of the leases: how long the task was queued
    runs = models.TextField(default="{}")  # `Latencies` of posted results: how long the lease lasted
    # The minute is not rolled up yet: the row counts only the rows that compaction deleted.
    is_open = models.BooleanField(default=False)
    # The last keys older than the end of the minute; None in a row that is not the last of its transaction.
    last_task = models.BigIntegerField(null=True)
    last_lease = models.BigIntegerField(null=True)
    last_result = models.BigIntegerField(null=True)
    last_event = models.BigIntegerField(null=True)

    objects: ClassVar[RollUpQuerySet] = managed_by(RollUpQuerySet)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["agent", "minute"], name="roll_up_once_per_agent_and_minute"),
            models.UniqueConstraint(fields=["minute"], condition=Q(agent=None), name="roll_up_once_per_minute"),
        ]
        indexes = [
            models.Index(fields=["minute"], name="roll_up_minute"),  # rollups.roll: old rows to delete
            models.Index(fields=["minute", "agent"], name="roll_up_open", condition=Q(is_open=True)),
        ]

    def __str__(self) -> str:
        return f"{self.minute:%Y-%m-%d %H:%M}"

    @property
    def through(self) -> datetime:
        """The end of the minute."""
        return self.minute + MINUTE

    @property
    def results(self) -> int:
        return self.ok + self.partial + self.error


class RollUpTurn(models.Model):
    """A single row. Its lock is held while rows are rolled up, or deleted before they are rolled up.

    It has the sums of all minutes that were rolled up since the row has them. No sum ever falls.
    """

    queued_in = models.PositiveBigIntegerField(default=0, db_default=0)
    leased = models.PositiveBigIntegerField(default=0, db_default=0)
    ok = models.PositiveBigIntegerField(default=0, db_default=0)
    partial = models.PositiveBigIntegerField(default=0, db_default=0)
    error = models.PositiveBigIntegerField(default=0, db_default=0)
    replayed = models.PositiveBigIntegerField(default=0, db_default=0)
    waits = models.TextField(default="{}", db_default="{}")  # `Latencies`, as in the roll-ups
    runs = models.TextField(default="{}", db_default="{}")
    paired_task = models.BigIntegerField(default=0, db_default=0)  # the task and the result up to which all pairs
    paired_result = models.BigIntegerField(default=0, db_default=0)  # are counted
    filed_to = models.BigIntegerField(default=0, db_default=0)  # the result up to which all failures are filed

    def __str__(self) -> str:
        return "turn"

    @classmethod
    def take(cls) -> RollUpTurn:
        """Wait until no other transaction counts, and let no other count until this transaction ends."""
        cls.objects.get_or_create(pk=1)
        return cls.objects.select_for_update().get(pk=1)

    @classmethod
    def read(cls) -> RollUpTurn:
        """Return the row, or one without sums before the first roll-up."""
        return cls.objects.filter(pk=1).first() or cls()


def floor(moment: datetime) -> datetime:
    """Return the beginning of the minute of ``moment``."""
    return moment.replace(second=0, microsecond=0)


class DepthQuerySet(models.QuerySet["Depth"]):
    def of(self, agent: int | None) -> DepthQuerySet:
        """Narrow to the rows of one agent, by primary key; None is the whole hub."""
        return self.filter(agent=agent)


class Depth(models.Model):
    """The numbers of tasks at one minute, of one agent or of the whole hub. `mailbox.upkeep.rollups` counts them.

    An agent that has nothing to do has no row. A minute without a row of the hub was not counted.
    """

    agent = models.ForeignKey(  # the recipient and holder; None: the whole hub
        "mailbox.Agent", models.CASCADE, null=True, related_name="+", db_index=False
    )
    minute = models.DateTimeField()
    queued = models.PositiveIntegerField()
    leased = models.PositiveIntegerField()
    stale = models.PositiveIntegerField()  # those of the leases that are stale

    objects: ClassVar[DepthQuerySet] = managed_by(DepthQuerySet)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["agent", "minute"], name="depth_once_per_agent_and_minute"),
            models.UniqueConstraint(fields=["minute"], condition=Q(agent=None), name="depth_once_per_minute"),
        ]
        indexes = [models.Index(fields=["minute"], name="depth_minute")]  # depths.measure: old rows to delete

    def __str__(self) -> str:
        return f"{self.minute:%Y-%m-%d %H:%M}"


class PairCountQuerySet(models.QuerySet["PairCount"]):
    def since(self, span: int, slot: int) -> PairCountQuerySet:
        return self.filter(span=span, slot__gte=slot)

    def by_pair(self) -> models.QuerySet[PairCount, Any]:
        """Return (sender, recipient, sent, results, errors) of each pair."""
        pairs_of_agents: Any = self.order_by().values("sender", "recipient")
        summed = pairs_of_agents.annotate(tasks=Sum("sent"), ends=Sum("results"), failed=Sum("errors"))
        pairs: models.QuerySet[PairCount, Any] = summed.values_list("sender", "recipient", "tasks", "ends", "failed")
        return pairs


class PairCount(models.Model):
    """The tasks from one sender to one recipient within a slot of time, and the results of such tasks.

    `mailbox.upkeep.rollups` counts them. A slot is ``span`` minutes long, and ``slot`` is its number since 1970.
    """

    span = models.PositiveSmallIntegerField()  # one of SPANS
    slot = models.IntegerField()
    sender = models.ForeignKey("mailbox.Agent", models.CASCADE, related_name="+", db_index=False)
    recipient = models.ForeignKey("mailbox.Agent", models.CASCADE, related_name="+", db_index=False)
    sent = models.PositiveIntegerField(default=0)
    results = models.PositiveIntegerField(default=0)
    errors = models.PositiveIntegerField(default=0)  # part of the results

    objects: ClassVar[PairCountQuerySet] = managed_by(PairCountQuerySet)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["span", "slot", "sender", "recipient"], name="pair_count_unique")
        ]

    def __str__(self) -> str:
        return f"{self.sender_id} to {self.recipient_id}"
