from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from agentcards import remote_states
from dashboard.base.list_page import ROWS, ListPage, no_bytes
from dashboard.base.page import choice_of
from dashboard.figures import thresholds
from dashboard.figures.charts import HOUR, SPARK
from dashboard.figures.thresholds import Count
from dashboard.figures.trends import rows_of
from mailbox.access.limits import quota_usage
from mailbox.database import paging
from mailbox.database.paging import Page
from mailbox.inspection.search import queries
from mailbox.inspection.statistics import agent_order, backlogs, series
from mailbox.models.agent import AgentQuerySet

SORTS = ("name", "trouble", "queued", "leased", "errors", "called")
WORST_FIRST = "-trouble"


class AgentList(ListPage):
    """The agents, each with its backlog; those in trouble come first."""

    name = "agents"
    field = "display"
    kind = str
    tab = "state"
    columns: ClassVar = {
        "display": lambda agent: agent.display,
        "pubkey": lambda agent: agent.pubkey,
        "queued": lambda agent: agent.queued,
        "leased": lambda agent: agent.leased,
        "waits_since": lambda agent: agent.waits_since,
        "last_called_at": lambda agent: agent.last_called_at(),
        "paused_at": lambda agent: agent.paused_at,
        "paused_reason": lambda agent: agent.paused_reason,
    }

    @property
    def sort(self) -> str:
        """The chosen order: a name of `SORTS`, with a leading minus for the most, latest or last first."""
        known = [f"{sign}{name}" for name in SORTS for sign in ("", "-")]
        return choice_of("sort", self.request.GET.get("sort"), known, WORST_FIRST)

    @property
    def newest_first(self) -> bool:  # type: ignore[override]
        return self.sort == "-name"

    def chosen_values(self) -> dict[str, str]:
        return {**super().chosen_values(), "sort": self.sort}

    def found(self, text: str) -> AgentQuerySet:
        return queries.agents(text, self.at)

    def listed(self, found: AgentQuerySet) -> AgentQuerySet:
        return backlogs.with_standing(found, thresholds.limits(self.now))

    def exported(self, found: AgentQuerySet) -> AgentQuerySet:
        return self.listed(found)

    def paged(self, found: AgentQuerySet) -> Page[Any]:
        """Return the page in the chosen order. More than `agent_order.SORTED_TO` agents are listed by name."""
        pks = None if self.sort.endswith("name") else self._sorted(found)
        self.is_too_long = pks is None and not self.sort.endswith("name")
        self.number = None if pks is None else len(pks)
        if pks is None:
            return super().paged(found)
        name = f"{self.name} by {self.sort}"
        position = paging.after(self.request.GET.get("cursor"), name, (int,))
        start = 0 if position is None else position[0] + 1
        wanted = pks[start : start + ROWS + 1]
        rows = backlogs.standing_of(wanted, thresholds.limits(self.now))
        found_rows = ((rows[pk], (start + place,)) for place, pk in enumerate(wanted) if pk in rows)
        return paging.page(found_rows, ROWS, name, weigh=no_bytes)

    def _sorted(self, found: AgentQuerySet) -> Sequence[int] | None:
        trouble = agent_order.Trouble(
            now=self.now,
            limits=thresholds.limits(self.now),
            unreachable=remote_states.unreachable(),
        )
        return agent_order.sorted_keys(found, self.sort, trouble)

    def besides(self, page: Page[Any]) -> dict[str, Any]:
        figures = series.read(
            self.now,
            start=SPARK.start(self.now),
            runs_from=HOUR.start(self.now),
            agents=[agent.pk for agent in page.items],
            sampled=False,
        )
        rows = rows_of(page.items, figures, self.now, quota_usage.fullest(page.items))
        return {
            "rows": rows,
            "is_late": figures.is_late(self.now),
            "keys": queries.AGENT_KEYS,
            "sort": "name" if self.is_too_long else self.sort,
            "sorted_to": agent_order.SORTED_TO if self.is_too_long else 0,
        }

    def total(self, found: AgentQuerySet, page: Page[Any]) -> Count:
        """Return the number of the sorted agents, which costs no query. Agents by name are counted."""
        return super().total(found, page) if self.number is None else Count(self.number)

    def shown(self, page: Page[Any], context: Any) -> object:
        return [row.version for row in context["rows"]], context["total"]
