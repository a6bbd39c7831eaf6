"""The agents of the hub itself. No other program may act as them.

Their displays end in ``@hub``, but for the agent that stands for all callers without a key.
"""

from datetime import datetime

from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Lower

from mailbox.database.managers import Moment
from mailbox.models import Agent, ApiKey, PublicRoute, SigningKey
from mailbox.words.errors import AgentConflictError, InvalidRequestError

OPERATORS = "operators@hub"  # sends the tasks of people
SCHEDULER = "scheduler@hub"  # requeues tasks on a timer
ANONYMOUS = "anonymous@public"  # sends the tasks of all callers without a key, to agents that are open to anyone
OWN_AGENTS = (OPERATORS, SCHEDULER, ANONYMOUS)


def check(agent: Agent, display: str, now: datetime) -> None:
    """Raise `AgentConflictError` unless ``agent`` is safely the hub's own agent ``display``.

    An earlier version let agents register under these names. Such an agent has a display that differs in case, or an
    API key, a public route or a signing key of its own.
    """
    if agent.display != display:
        problem = f'"{agent}" stands in the way of the hub\'s own agent "{display}"'
    elif ApiKey.objects.live(now).filter(agent=agent).exists():
        problem = f'The hub\'s own agent "{display}" has an API key, so another program may act as it'
    elif PublicRoute.objects.live().filter(agent=agent).exists():
        problem = f'The hub\'s own agent "{display}" has a public route, so another program may act as it'
    elif SigningKey.objects.live().of_agent(agent).exists():
        problem = f'The hub\'s own agent "{display}" has a signing key, so another program may act as it'
    else:
        return
    raise AgentConflictError(f"{problem}. Run `manage.py a2a agents reclaim {display}`", agent=agent.display)


def conflicts(now: datetime) -> list[str]:
    """Return the message of each conflict that `check` raises for an agent of `OWN_AGENTS`."""
    problems = []
    alike = Agent.objects.annotate(folded=Lower("display")).filter(folded__in=OWN_AGENTS)
    suspects = alike.filter(~Q(display__in=OWN_AGENTS) | has_credential(now, OuterRef("pk")))
    for agent in sorted(suspects, key=lambda suspect: OWN_AGENTS.index(suspect.display.lower())):
        try:
            check(agent, agent.display.lower(), now)
        except AgentConflictError as conflict:
            problems.append(conflict.message)
    return problems


def has_credential(now: Moment, agent: OuterRef) -> Q:
    """Return the condition that another program may act as ``agent``, a reference to the key of an agent's row."""
    return (
        Q(Exists(ApiKey.objects.live(now).filter(agent=agent)))
        | Q(Exists(PublicRoute.objects.live().filter(agent=agent)))
        | Q(Exists(SigningKey.objects.live().filter(agent=agent)))
    )


def refuse_credentials(agent: Agent | None) -> None:
    """Raise `InvalidRequestError` for an agent of the hub itself: it gets no API key and no public route."""
    if agent is not None and agent.display in OWN_AGENTS:
        raise InvalidRequestError({"agent": f'"{agent}" is an agent of the hub itself and gets no credential'})
