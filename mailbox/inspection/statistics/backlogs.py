"""Backlogs: the tasks that wait for agents, the leases that they hold, and the time of their last call."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any, NamedTuple, cast

from django.db.models import BigIntegerField, Case, Exists, F, OuterRef, Q, QuerySet, Subquery, Value, When

from mailbox.database import compiled
from mailbox.database.compiled import Parameter, Time
from mailbox.database.paging import Counted
from mailbox.models import Agent, ApiKey, Lease, PublicRoute, Result, RollUp, SigningKey, Task
from mailbox.models.agent import AgentQuerySet

QUIET_AFTER = timedelta(minutes=5)  # a poll lasts at most a minute, and is recorded at most a minute later
COUNTED_TO = 1_000  # of the tasks or leases of one agent; more are shown as "1 000+"


class Limits(NamedTuple):
    """The moments of a person's attention, or those that each run of a compiled query gives.

    Since ``quiet_before`` an agent with work must have called. A task that is queued since ``late_before`` is late. A
    lease that began at ``stale_before`` is stale.
    """

    quiet_before: Time
    late_before: Time
    stale_before: Time


LIMIT_PARAMETERS = Limits(*(Parameter(name) for name in Limits._fields))


def with_backlog(agents: AgentQuerySet, most: int = COUNTED_TO) -> AgentQuerySet:
    """Add ``queued``, the number of tasks that wait for the agent, and ``leased``, the number of its leases.

    Each count stops at one more than ``most``. ``queued`` is the sum of two such counts.
    """
    to_it = Task.objects.queued().filter(recipient=OuterRef("pk"))
    # Two counts, each by an index of its own: leasable tasks, and tasks that wait on another.
    queued = [Counted.up_to(most, to_it.filter(waits_on__isnull=waits)) for waits in (True, False)]
    leased = Counted.up_to(most, Lease.objects.live().filter(holder=OuterRef("pk")))
    return agents.annotate(queued=queued[0] + queued[1], leased=leased)


def with_questions(agents: AgentQuerySet) -> AgentQuerySet:
    """Add ``asks`` and ``is_asked``, the numbers of interrupted tasks that the agent received and sent.

    Each count stops at one more than `COUNTED_TO`. ``asks_since`` and ``asked_since`` are the times since which the
    oldest of each waits, None without one.
    """
    for count, since, party in (("asks", "asks_since", "recipient"), ("is_asked", "asked_since", "sender")):
        open_ = Task.objects.interrupted().filter(**{party: OuterRef("pk")})
        oldest = Subquery(open_.order_by("status_at").values("status_at")[:1])
        agents = agents.annotate(**{count: Counted.up_to(COUNTED_TO, open_), since: oldest})
    return agents


def busiest_first(agents: AgentQuerySet) -> AgentQuerySet:
    """Order agents by their backlog, which `with_backlog` has added."""
    return agents.order_by("-queued", "-leased", "display")


def with_oldest(agents: AgentQuerySet) -> AgentQuerySet:
    """Add ``waits_since``, the time since which the agent's oldest leasable task is queued; None without one."""
    return agents.annotate(waits_since=_oldest_waiting())


def with_signs(agents: AgentQuerySet, quiet_before: Time) -> AgentQuerySet:
    """Add ``key_used_at``, ``route_used_at``, ``signed_at``, ``has_key`` and ``is_quiet``.

    The three times are those of its last calls by an API key, a public route and a signature, None for never.
    ``has_key`` is whether it has any of these that is not revoked.
    An authenticated call, also a poll, records the use of its key at most once a minute. So these times are at most a
    minute late.
    """
    latest = F("last_used_at").desc(nulls_last=True)
    keys, routes, signing = (of_it.order_by(latest).values("last_used_at")[:1] for of_it in _credentials())
    return agents.annotate(
        key_used_at=Subquery(keys),
        route_used_at=Subquery(routes),
        signed_at=Subquery(signing),
        has_key=_has_key(),
        is_quiet=Case(When(_is_quiet(quiet_before), then=Value(True)), default=Value(False)),
    )


def with_stale(agents: AgentQuerySet, before: Time) -> AgentQuerySet:
    """Add ``holds_stale``, whether the agent holds a lease that began at ``before`` or earlier."""
    held = Lease.objects.live().filter(holder=OuterRef("pk"), leased_at__lte=before)
    return agents.annotate(holds_stale=Exists(held))


def with_unserved(agents: AgentQuerySet, before: Time) -> AgentQuerySet:
    """Add ``is_unserved``, whether the oldest task that the agent could lease is queued since ``before`` or earlier."""
    return agents.annotate(is_unserved=Case(When(_is_unserved(before), then=Value(True)), default=Value(False)))


def with_pace(agents: AgentQuerySet, since: Time) -> AgentQuerySet:
    """Add ``takes_work``, whether the agent took a lease since then, as far as minutes are rolled up."""
    taken = RollUp.objects.filter(agent=OuterRef("pk"), minute__gte=since, leased__gt=0)
    return agents.annotate(takes_work=Exists(taken))


def with_standing(agents: AgentQuerySet, limits: Limits) -> AgentQuerySet:
    """Add the state of the agents: backlog, oldest task, signs, and whether a queue is late or a lease stale."""
    known = with_signs(with_oldest(with_backlog(agents)), limits.quiet_before)
    return with_stale(with_unserved(known, limits.late_before), limits.stale_before)


def standing_of(pks: Sequence[int], limits: Limits) -> dict[int, Agent]:
    """Return the agents with these primary keys, each `with_standing`. A key without an agent is left out."""
    if not pks:
        return {}
    number, values = compiled.many(pks)
    return {agent.pk: agent for agent in _these(number).rows(**values, **limits._asdict())}


def with_questions_of(pk: int, limits: Limits) -> Agent:
    """Return the agent with this primary key, `with_standing` and `with_questions`. Raises `Agent.DoesNotExist`."""
    for agent in _with_questions().rows(pk=pk, **limits._asdict()):
        return cast(Agent, agent)
    raise Agent.DoesNotExist


def busiest(limits: Limits, most: int) -> Sequence[Agent]:
    """Return the ``most`` busiest agents, each `with_standing` and `with_pace` since ``late_before``."""
    rows: Sequence[Agent] = _busiest(most).rows(**limits._asdict())
    return rows


@compiled.once
def _these(number: int) -> AgentQuerySet:
    return with_standing(Agent.objects.filter(pk__in=compiled.keys(number)), LIMIT_PARAMETERS)


@compiled.once
def _with_questions() -> AgentQuerySet:
    return with_questions(with_standing(Agent.objects.filter(pk=Parameter("pk", BigIntegerField())), LIMIT_PARAMETERS))


@compiled.once
def _busiest(most: int) -> AgentQuerySet:
    return busiest_first(with_pace(with_standing(Agent.objects.all(), LIMIT_PARAMETERS), LIMIT_PARAMETERS.late_before))[
        :most
    ]


def unserved(before: Time, quiet_before: Time) -> AgentQuerySet:
    """Return the agents whose oldest leasable task is queued since ``before`` or earlier, without `quiet` agents."""
    return Agent.objects.filter(_is_unserved(before)).exclude(_is_quiet(quiet_before))


def quiet(before: Time) -> AgentQuerySet:
    """Return the agents that have a key and work to do, and have not called since ``before``.

    Paused agents are left out. Agents without a key are left out, too: the hub or code in its process acts for them.
    """
    return Agent.objects.filter(_is_quiet(before))


def paused_with_work() -> AgentQuerySet:
    """Return the paused agents that have queued tasks."""
    to_it = Task.objects.queued().filter(recipient=OuterRef("pk"))
    # Two questions, each with an index of its own: leasable tasks, and tasks that wait on another.
    queued = Q(Exists(to_it.filter(waits_on=None))) | Q(Exists(to_it.filter(waits_on__isnull=False)))
    return Agent.objects.paused().filter(queued)


def first_of_each(most: int, *groups: AgentQuerySet) -> AgentQuerySet:
    """Return the ``most`` busiest agents of each of these querysets, in one query."""
    any_of = Q()
    for group in groups:
        any_of |= Q(pk__in=busiest_first(with_backlog(group)).values("pk")[:most])
    return Agent.objects.filter(any_of)


def oldest_waiting() -> QuerySet[Agent, dict[str, Any]]:
    """Return the time since which the oldest task of any agent is queued, as a query for one value.

    The query reads the index by which agents lease, agent by agent.
    """
    agents = Agent.objects.annotate(since=_oldest_waiting())
    return agents.order_by(F("since").asc(nulls_last=True)).values("since")[:1]


def oldest_asking() -> QuerySet[Agent, dict[str, Any]]:
    """Return a query for one value: the time since which the oldest question of all agents waits for its answer."""
    asking = Task.objects.interrupted().filter(recipient=OuterRef("pk")).order_by("status_at")
    agents = Agent.objects.annotate(since=Subquery(asking.values("status_at")[:1]))
    return agents.order_by(F("since").asc(nulls_last=True)).values("since")[:1]


def oldest_owed() -> QuerySet[Agent, dict[str, Any]]:
    """Return a query for one value: the time at which the oldest pending result of all agents was posted."""
    owed = Result.objects.pending().filter(sender=OuterRef("pk")).order_by("posted_at")
    agents = Agent.objects.annotate(since=Subquery(owed.values("posted_at")[:1]))
    return agents.order_by(F("since").asc(nulls_last=True)).values("since")[:1]


def _oldest_waiting() -> Subquery:
    waiting = Task.objects.leasable().filter(recipient=OuterRef("pk")).order_by("queued_at")
    return Subquery(waiting.values("queued_at")[:1])


def _is_unserved(before: Time) -> Q:
    late = Task.objects.leasable().filter(recipient=OuterRef("pk"), queued_at__lte=before)
    return Q(paused_at=None) & Q(Exists(late))


def _has_key() -> Q:
    keys, routes, signing = _credentials()
    live = (keys.filter(revoked_at=None), routes.filter(revoked_at=None), signing.filter(retired_at=None))
    return Q(Exists(live[0])) | Q(Exists(live[1])) | Q(Exists(live[2]))


def _is_quiet(before: Time) -> Q:
    keys, routes, signing = _credentials()
    could_call = Q(Exists(keys.filter(revoked_at=None, created_at__lt=before)))
    used = [Q(Exists(one.filter(last_used_at__gte=before))) for one in (keys, routes, signing)]
    called = used[0] | used[1] | used[2]
    waiting = Q(Exists(Task.objects.leasable().filter(recipient=OuterRef("pk"))))
    held = Q(Exists(Lease.objects.live().filter(holder=OuterRef("pk"))))
    return Q(paused_at=None) & could_call & ~called & (waiting | held)


def _credentials() -> tuple[QuerySet[ApiKey], QuerySet[PublicRoute], QuerySet[SigningKey]]:
    """Return the API keys, public routes and signing keys of the agent of the outer query, live or not."""
    agent = OuterRef("pk")
    return (
        ApiKey.objects.filter(agent=agent),
        PublicRoute.objects.filter(agent=agent),
        SigningKey.objects.filter(agent=agent),
    )
