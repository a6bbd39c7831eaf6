"""The failures of a time range in groups, and the page of a group, which plans to send its tasks again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any
from uuid import uuid4, uuid5

from django.http import HttpRequest, HttpResponse
from django.utils.functional import cached_property

from dashboard.base.page import DashboardView, choice_of, id_in
from dashboard.figures.plots import Bar, Range
from dashboard.repairs import to_plan
from dashboard.saved_views import SavablePage
from mailbox.access import requests
from mailbox.access.agents import directory
from mailbox.inspection.search import queries, terms
from mailbox.inspection.statistics import failures
from mailbox.models import Agent, failure
from mailbox.repairs import plans
from mailbox.words.errors import InvalidRequestError

RANGES = {
    "1h": Range(name="1h", span=timedelta(hours=1), step=timedelta(minutes=2)),
    "24h": Range(name="24h", span=timedelta(hours=24), step=timedelta(hours=1)),
    "7d": Range(name="7d", span=timedelta(days=7), step=timedelta(hours=6)),
}
USUAL = "24h"
AGENTS_OFFERED, TASKS_SHOWN = 200, 20


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRow:
    """A group of failures with its bars, oldest first."""

    group: failures.FailureGroup
    bars: Sequence[Bar]
    scale: Range

    @property
    def version(self) -> object:
        """A value that changes when the row looks different."""
        sample: Any = self.group.sample
        return self.group.fingerprint, self.group.count, sample and sample.pk


def range_named(value: str | None) -> Range:
    """Return the range of this name, a day for None; raise `InvalidRequestError`."""
    return RANGES[choice_of("range", value, RANGES, USUAL)]


def row_of(group: failures.FailureGroup, scale: Range, now: datetime) -> GroupRow:
    return GroupRow(group=group, bars=_bars(group.slots, scale, now), scale=scale)


def _bars(slots: Mapping[int, int], scale: Range, now: datetime, *, height: float = 20) -> Sequence[Bar]:
    top = max(slots.values(), default=0) or 1
    first = failure.minute_of(scale.start(now)) // (scale.step // failure.MINUTE)
    return [
        Bar(x=4 * place, y=height - tall, width=3, height=tall, kind="error", count=count)
        for place in range(scale.bars)
        if (count := slots.get(first + place, 0))
        for tall in [max(2.0, round(height * count / top, 1))]
    ]


class FailureList(SavablePage):
    """The failures of a time range, grouped by agent and message."""

    name = "failures"

    def chosen_values(self) -> dict[str, str]:
        scale, sort, agent = self._chosen
        values = {"range": scale.name, "sort": sort}
        return {**values, "agent": agent.display} if agent else values

    @cached_property
    def _chosen(self) -> tuple[Range, str, Agent | None]:
        params = self.request.GET
        scale = range_named(params.get("range"))
        sort = choice_of("sort", params.get("sort"), ["count", "last"], "count")
        name = params.get("agent", "").strip()
        return scale, sort, directory.typed(self.caller, name) if name else None

    def get(self, request: HttpRequest) -> HttpResponse:
        scale, sort, agent = self._chosen
        start = scale.start(self.now)
        report = failures.read(start, slot=scale.step, agent=agent, by_last=sort == "last")
        rows = [row_of(group, scale, self.now) for group in report.groups]
        context = {
            "rows": rows,
            "found": report,
            "count": sum(row.group.count for row in rows),
            "scale": scale,
            "ranges": RANGES.values(),
            "sort": sort,
            "agent": agent,
            "agents": directory.first_names(most=AGENTS_OFFERED),
            "limits": {"groups": failures.GROUPS, "counted": failures.COUNTED, "unfiled": failures.UNFILED},
            **self.saved_views(),
        }
        return self.live("ops/failures.html", context, [row.version for row in rows])


class FailurePage(DashboardView):
    """One group of failures with its newest tasks. A POST plans to send its tasks again."""

    needs = requests.SEND

    def get(self, request: HttpRequest, fingerprint: str) -> HttpResponse:
        scale = range_named(request.GET.get("range"))
        start = scale.start(self.now)
        group = failures.group_of(fingerprint, start, slot=scale.step)
        term = terms.term("failure", fingerprint)
        tasks: Any = queries.tasks(term, self.at)
        newest = list(tasks.with_parties().with_opening().with_error_line().order_by("-pk")[:TASKS_SHOWN])
        if group is None and not newest:
            return self.problem(HTTPStatus.NOT_FOUND, "Failure not found", "No failed task has this fingerprint.")
        row = row_of(group, scale, self.now) if group else None
        context = {
            "fingerprint": fingerprint,
            "row": row,
            "tasks": newest,
            "term": term,
            "scale": scale,
            "ranges": RANGES.values(),
            "form_token": uuid4(),
        }
        return self.live("ops/failure.html", context, (row and row.version, len(newest)))

    def post(self, request: HttpRequest, fingerprint: str) -> HttpResponse:
        scale = range_named(request.GET.get("range"))
        form_token = id_in(request.POST.get("form_token"))
        if form_token is None:
            return self._nothing_planned("The form was incomplete. Go back, reload the page and try again.")
        start = scale.start(self.now)
        query = f"{terms.term('failure', fingerprint)} finished:{start:%Y-%m-%dT%H:%MZ}.."
        tasks = queries.tasks(query, self.at)
        token = uuid5(form_token, f"{fingerprint} {scale.name}")
        try:
            plan = plans.make_copy_plan(self.caller, tasks, token=token, query=query)
        except InvalidRequestError:
            why = f"No failed task of this group ended in the last {scale.words}. New failures are grouped in a minute."
            return self._nothing_planned(why)
        return to_plan(plan)

    def _nothing_planned(self, why: str) -> HttpResponse:
        return self.problem(HTTPStatus.UNPROCESSABLE_ENTITY, "Nothing planned", why)
