"""The directory of agents: an agent by its identity or by a typed name, and the names, keys and peers of agents."""

from collections.abc import Sequence
from datetime import datetime

from mailbox.access.callers import Caller
from mailbox.models import Agent, ApiKey, Peer, SigningKey
from mailbox.words import names
from mailbox.words.envelopes import AgentRef
from mailbox.words.errors import InvalidRequestError, UnknownAgentError


def identified(caller: Caller | None, ref: AgentRef) -> Agent:
    """Return the agent that ``ref`` means; raise `UnknownAgentError`.

    A public key decides alone. A bare local part means the agent at ``local``, or else must fit exactly one.
    """
    return only_match(caller, ref, Agent.objects.fitting(ref))


def typed(caller: Caller | None, text: str) -> Agent:
    """Return the agent of this public key, display or local part; raise `UnknownAgentError` for any other text."""
    return only_match(caller, text, Agent.objects.typed(text))


def typed_or_none(caller: Caller | None, text: str) -> Agent | None:
    """Return the agent as `typed` does; None if no agent fits. Raise `UnknownAgentError` if several fit."""
    fitting = Agent.objects.typed(text)
    return only_match(caller, text, fitting) if fitting else None


def named(caller: Caller | None, name: str) -> Agent:
    """Return the agent as `identified` does, or the agent whose display `names.spelled` makes of ``name``.

    Raises `UnknownAgentError`, and `InvalidRequestError` for text that is neither a display nor a registered name.
    """
    try:
        return identified(caller, AgentRef.parse(name))
    except (InvalidRequestError, UnknownAgentError):
        known = Agent.objects.filter(display=names.spelled(name)).first()
        if known is None:
            raise
        return known


def only_match(caller: Caller | None, name: AgentRef | str, fitting: Sequence[Agent]) -> Agent:
    """Return the only agent of ``fitting``; raise `UnknownAgentError` if there is none, or more than one.

    The error for an ambiguous ``name`` lists the agents that it fits. A caller by a public route and an anonymous
    client, whose ``caller`` is None, get no list.
    """
    if len(fitting) == 1:
        return fitting[0]
    if not fitting:
        raise UnknownAgentError.of(str(name))
    displays = [] if caller is None or caller.sends_only else [agent.display for agent in fitting]
    raise UnknownAgentError.ambiguous(str(name), displays)


def first_names(*, most: int) -> Sequence[str]:
    """Return the displays of the first ``most`` agents by name."""
    return list(Agent.objects.order_by("display").values_list("display", flat=True)[:most])


def newest_peers(agent: Agent, *, most: int) -> Sequence[Peer]:
    """Return the ``most`` peers of this agent that were seen last, newest first."""
    return list(Peer.objects.filter(agent=agent).last_seen_first()[:most])


def live_keys(agent: Agent, now: datetime) -> Sequence[ApiKey]:
    """Return the live API keys of this agent, oldest first."""
    return list(ApiKey.objects.live(now).filter(agent=agent).order_by("pk"))


def live_signing_key(agent: Agent) -> SigningKey | None:
    """Return the key by which this agent signs its requests; None without one."""
    return next(iter(SigningKey.objects.live().of_agent(agent)), None)
