"""Find a registered agent: by its identity, or by the text that a person or a path names it with."""

from __future__ import annotations

from collections.abc import Sequence

from mailbox.access.callers import Caller
from mailbox.models import Agent
from mailbox.words import names
from mailbox.words.envelopes import AgentRef
from mailbox.words.errors import InvalidRequestError, UnknownAgentError


def identified(caller: Caller | None, ref: AgentRef) -> Agent:
    """Return the agent that ``ref`` means; raise `UnknownAgentError`.

    A public key decides alone. A bare local part means the agent at ``local``, or else must fit exactly one.
    """
    return the_one(caller, ref, Agent.objects.fitting(ref))


def typed(caller: Caller | None, text: str) -> Agent:
    """Return the agent of this public key, display or local part; raise `UnknownAgentError` for any other text."""
    return the_one(caller, text, Agent.objects.typed(text))


def typed_or_none(caller: Caller | None, text: str) -> Agent | None:
    """Return the agent as `typed` does; None if no agent fits. Raise `UnknownAgentError` if several fit."""
    fitting = Agent.objects.typed(text)
    return the_one(caller, text, fitting) if fitting else None


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


def the_one(caller: Caller | None, name: AgentRef | str, fitting: Sequence[Agent]) -> Agent:
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
