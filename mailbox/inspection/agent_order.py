"""The order of agents on a list, by trouble or by a number. Each order is bounded by the number of agents."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import Case, DateTimeField, Exists, F, OuterRef, Q, Subquery, Sum, Value, When
from django.db.models.functions import Coalesce, Greatest, NullIf

from mailbox.inspection import backlogs
from mailbox.inspection.troubles import ALL_ERRORS
from mailbox.models import RollUp, Task
from mailbox.models.agent import AgentQuerySet

SORTED_TO = 1_000  # agents; more are listed by name alone
ERRORS_OVER = timedelta(hours=1)
_NEVER = Value(datetime(1970, 1, 1, tzinfo=UTC), output_field=DateTimeField())


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """The limits of trouble at ``now``: the moments since which an agent is quiet, its queue late, its lease stale.

    ``unreachable`` are the primary keys of the remote agents to which the hub could not connect.
    """

    now: datetime
    quiet_before: datetime
    late_before: datetime
    stale_before: datetime
    unreachable: Collection[int] = ()


def sorted_keys(agents: AgentQuerySet, by: str, trouble: Trouble) -> Sequence[int] | None:
    """Return the primary keys of the agents in this order; None for more than `SORTED_TO` agents.

    ``by`` is "trouble", "queued", "leased", "errors" or "called", the least or earliest first; with a leading minus the
    most or latest first. Equal agents follow by name.
    """
    if agents.order_by()[: SORTED_TO + 1].count() > SORTED_TO:  # before anything is measured
        return None
    name = by.removeprefix("-")
    found = _measured(agents, name, trouble)
    keys = ("trouble", "errors") if name == "trouble" else (name,)
    order = [F(key).desc(nulls_last=True) if by.startswith("-") else F(key).asc(nulls_first=True) for key in keys]
    return list(found.order_by(*order, "display").values_list("pk", flat=True))


def _measured(agents: AgentQuerySet, name: str, trouble: Trouble) -> AgentQuerySet:
    if name in ("queued", "leased"):
        return backlogs.with_backlog(agents)
    if name == "called":
        signs = ("key_used_at", "route_used_at", "signed_at")
        known = backlogs.with_signs(agents, trouble.quiet_before)
        return known.annotate(called=NullIf(Greatest(*(Coalesce(sign, _NEVER) for sign in signs)), _NEVER))
    hour = _results(trouble.now)
    found = agents.annotate(errors=Coalesce(Subquery(hour.values("errors")), 0))
    return found if name == "errors" else _ranked(found, hour, trouble)


def _ranked(agents: AgentQuerySet, hour: Any, trouble: Trouble) -> AgentQuerySet:
    found = backlogs.with_stale(backlogs.with_signs(agents, trouble.quiet_before), trouble.stale_before)
    found = backlogs.with_unserved(found, trouble.late_before)
    waits = Exists(Task.objects.leasable().filter(recipient=OuterRef("pk")))
    mostly_errors = Exists(hour.filter(errors__gte=ALL_ERRORS).filter(errors__gte=F("all_results") - F("errors")))
    ranks = (
        (Q(pk__in=list(trouble.unreachable)) | Q(is_quiet=True), 6),
        (Q(is_unserved=True), 5),
        (Q(mostly_errors), 4),
        (Q(holds_stale=True), 3),
        (Q(paused_at__isnull=False) & Q(waits), 2),
        (Q(paused_at__isnull=False), 1),
    )
    return found.annotate(trouble=Case(*(When(which, then=Value(rank)) for which, rank in ranks), default=Value(0)))


def _results(now: datetime) -> Any:
    """Return a query for the results and errors of the agent of the outer query in the last hour."""
    minutes = RollUp.objects.filter(agent=OuterRef("pk"), minute__gte=now - ERRORS_OVER).order_by().values("agent")
    return minutes.annotate(errors=Sum("error"), all_results=Sum(F("ok") + F("partial") + F("error")))
