"""Agents as rows, with their recent results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from agentcards import remote_states
from agentcards.remote_states import RemoteState
from dashboard.figures import plots
from dashboard.figures.plots import HOUR, SPARK, Axis, Bucket
from mailbox.inspection.statistics import standing as standing_module
from mailbox.inspection.statistics.series import Figures, Sum
from mailbox.models import Agent


@dataclass(frozen=True, kw_only=True)
class AgentRow:
    """An agent with its results of the last hour, and of the last two hours as small bars."""

    agent: Any
    hour: Sum
    buckets: Sequence[Bucket]
    posted: str  # filter of the last hour's results
    used: int = 0  # percent of its fullest quota
    remote: RemoteState | None = None  # None: it calls the hub itself

    @property
    def path(self) -> str:
        """The path of the small bars, in the plane of `plots`."""
        counts = [bucket.sum.results for bucket in self.buckets]
        return plots.bars(counts, [0] * len(counts), Axis(ticks=[0, max(1, *counts)]))

    @cached_property
    def results(self) -> int:
        """The number of results that the bars stand for."""
        return sum(bucket.sum.results for bucket in self.buckets)

    @property
    def bar_width(self) -> int:
        return plots.bar_width(len(self.buckets))

    @cached_property
    def peak(self) -> int:
        """The results of the highest bar."""
        return max(bucket.sum.results for bucket in self.buckets)

    @property
    def version(self) -> object:
        """A value that changes when the row looks different. Ages do not count: they tick in the browser."""
        agent, hour = self.agent, self.hour
        standing = (agent.pk, agent.queued, agent.leased, agent.waits_since, agent.is_quiet, agent.is_unserved)
        return (
            standing,
            agent.holds_stale,
            agent.paused_at,
            hour.results,
            hour.error,
            self.results,
            self.remote or agent.last_called_at(),
            self.used,
        )

    @property
    def state(self) -> str:
        """The worst that is known of the agent, as a state of `dashboard.templatetags.ops.pill`."""
        if self.agent.paused_at:
            return "paused"
        if self.remote is not None and self.remote.is_down:
            return "unreachable"
        if self.agent.is_quiet:
            return "quiet"
        if self.agent.is_unserved:
            return "unserved"
        if self.is_failing:
            return "mostly_errors"
        return "stale_lease" if self.agent.holds_stale else "leasing"

    @property
    def is_failing(self) -> bool:
        """Whether at least half of its results of the last hour are errors, and these are not too few to tell."""
        return self.hour.error >= standing_module.ALL_ERRORS and 2 * self.hour.error >= self.hour.results

    @property
    def error_share(self) -> float | None:
        return 100 * self.hour.error / self.hour.results if self.hour.results else None


def rows_of(
    agents: Sequence[Agent], figures: Figures, now: datetime, used: Mapping[int, int] | None = None
) -> list[AgentRow]:
    """Return the agents with their figures. ``used`` is the share of the fullest quota in percent, by agent."""
    since, remote = HOUR.start(now), remote_states.of_agents(agents)
    return [
        AgentRow(
            agent=agent,
            hour=Sum.of(point for point in points if point.minute >= since),
            buckets=plots.buckets(points, SPARK, now),
            posted=plots.posted(since),
            used=(used or {}).get(agent.pk, 0),
            remote=remote.get(agent.pk),
        )
        for agent in agents
        for points in [figures.agents[agent.pk]]
    ]
