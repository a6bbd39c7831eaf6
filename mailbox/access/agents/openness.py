"""Agents that are open to anyone: callers without a key may send to them, as ``anonymous@public``."""

from __future__ import annotations

from datetime import datetime

from django.db.models import OuterRef, TextField
from django.utils import timezone

from mailbox.access import actions, audit
from mailbox.access.agents import grants, own_agent_setup
from mailbox.access.callers import Caller
from mailbox.access.own_agents import ANONYMOUS, OWN_AGENTS, has_credential
from mailbox.access.requests import Request
from mailbox.database import compiled
from mailbox.database.compiled import NOW, Given, Time
from mailbox.journal import entries
from mailbox.models import Agent, AuditEvent, CapabilityGrant
from mailbox.models.grant import CapabilityGrantQuerySet
from mailbox.words.envelopes import check_reason
from mailbox.words.errors import InvalidRequestError


def open_to_anyone(caller: Caller, agent: Agent, *, reason: str = "") -> None:
    """Let callers without a key send to ``agent``. Needs ``a2a.capabilities.grant``, which admins hold.

    ``anonymous@public`` is granted ``a2a.send.<agent>``, and the agent ``a2a.respond.anonymous@public``. A second call
    changes nothing. Raises `InvalidRequestError` for an agent of the hub itself, `CapabilityMissingError`, and
    `AgentConflictError` if another program may act as ``anonymous@public``. Journals ``capability_check``, and
    ``agent_opened`` with ``capability_granted`` for each new grant.
    """
    reason = check_reason(reason) if reason.strip() else ""
    if agent.display in OWN_AGENTS:
        raise InvalidRequestError({"agent": f'"{agent}" is an agent of the hub itself and takes no tasks from anyone'})
    anonymous = own_agent_setup.hub_agent(ANONYMOUS)
    with audit.decision(caller) as journal:
        journal.admit(Request.to_open(agent))
        if not _to_respond(agent, journal.now).exists():
            grants.give(journal, agent, f"{actions.RESPOND}.{ANONYMOUS}", granted_by=caller.name)
        if not _to_send(agent, journal.now).exists():
            grants.give(journal, anonymous, f"{actions.SEND}.{agent.display}", granted_by=caller.name)
            journal.beside(entries.agent_opened(agent.display, reason))


def close_to_anyone(caller: Caller, agent: Agent, *, reason: str = "") -> None:
    """Let no caller without a key send to ``agent`` any more. Needs ``a2a.capabilities.grant``, which admins hold.

    Revokes what `open_to_anyone` grants, and every grant for the same that was given by hand. The tasks that were sent
    stay, and the agent can no longer answer them unless another grant lets it. A second call changes nothing. Raises
    `InvalidRequestError`, `CapabilityMissingError`. Locks the grants; journals ``capability_check``, and
    ``agent_closed`` with ``capability_revoked`` for each.
    """
    reason = check_reason(reason) if reason.strip() else ""
    with audit.decision(caller) as journal:
        journal.admit(Request.to_open(agent))
        held = [*_locked(_to_send(agent, journal.now)), *_locked(_to_respond(agent, journal.now))]
        for grant in held:
            grants.take_back(journal, grant)
        if held:
            journal.beside(entries.agent_closed(agent.display, reason))


def is_open(agent: Agent) -> bool:
    """Whether callers without a key may send to ``agent``."""
    return bool(_held(agent))


def anonymous_caller(agent: Agent, *, request_id: str, address: str) -> Caller | None:
    """Return the caller of a request to ``agent`` without a key, from the network ``address``; None if it is not open.

    The caller is ``anonymous@public`` with its grants for this agent alone. One query reads them.
    """
    held = _held(agent)
    if not held:
        return None
    return Caller(
        name=ANONYMOUS,
        source=AuditEvent.Source.API,
        agent=held[0].subject,
        request_id=request_id,
        grants=held,
        is_anonymous=True,
        address=address,
    )


def _locked(found: CapabilityGrantQuerySet) -> CapabilityGrantQuerySet:
    return found.select_related("subject").select_for_update(of=("self",))


def _held(agent: Agent) -> tuple[CapabilityGrant, ...]:
    """Return the grants of `_to_send` now, with their subject."""
    by_display, by_key = _sends(agent)
    return tuple(_live_to_send().rows(by_display=by_display, by_key=by_key, now=timezone.now()))


@compiled.once
def _live_to_send() -> CapabilityGrantQuerySet:
    names = Given("by_display", TextField()), Given("by_key", TextField())
    return _naming(names, NOW).select_related("subject")


def _to_send(agent: Agent, now: datetime) -> CapabilityGrantQuerySet:
    """Return the live grants by which anyone may send to ``agent``."""
    return _naming(_sends(agent), now)


def _sends(agent: Agent) -> tuple[str, str]:
    """Return the actions that name the agent as recipient: by its display, and by its public key."""
    return f"{actions.SEND}.{agent.display}", f"{actions.SEND}.{agent.pubkey}"


def _naming(sends: tuple[str | Given, str | Given], now: Time) -> CapabilityGrantQuerySet:
    """Return the live grants of ``anonymous@public`` for these actions.

    No agent passed them on. While a program has a credential of ``anonymous@public``, from an earlier version, there
    are none.
    """
    live = CapabilityGrant.objects.live(now).filter(subject__display=ANONYMOUS, action__in=sends, passed_on_from=None)
    return live.exclude(has_credential(now, OuterRef("subject")))


def _to_respond(agent: Agent, now: datetime) -> CapabilityGrantQuerySet:
    return CapabilityGrant.objects.live(now).filter(subject=agent, action=f"{actions.RESPOND}.{ANONYMOUS}")
