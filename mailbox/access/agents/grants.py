"""Grants: how they are given, passed on and revoked.

An agent is opened to anyone by a grant to ``anonymous@public``, as which callers without a key send.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, TextField
from django.utils import timezone

from mailbox.access import audit, requests
from mailbox.access.agents import directory, own_agent_setup
from mailbox.access.callers import Caller
from mailbox.access.own_agents import ANONYMOUS, OWN_AGENTS, has_credential
from mailbox.access.requests import SCOPE_FIELDS, Action, Request
from mailbox.database import compiled
from mailbox.database.managers import Moment
from mailbox.journal import access_entries, hub_entries
from mailbox.models import Agent, AuditEvent, CapabilityGrant
from mailbox.models.agent import CapabilityGrantQuerySet
from mailbox.words import json_text
from mailbox.words.envelopes import check_reason, check_to_come, is_pubkey
from mailbox.words.errors import CapabilityMissingError, InvalidRequestError, UnknownGrantError

RISKS = ("idempotent", "operator_accepted", "operator-accepted")


def grant(
    caller: Caller,
    subject: Agent,
    action: str,
    *,
    scope: Mapping[str, Any] | None = None,
    expires_at: datetime | None = None,
    max_uses: int | None = None,
) -> CapabilityGrant:
    """Allow ``subject`` to take ``action``. Needs ``a2a.capabilities.grant``, or a grant at least as wide to pass on.

    ``scope`` None or {} admits any request; otherwise it is ``{"version": 1, ...}`` with the fields that it pins.
    ``expires_at`` is a future time, None for no expiry. ``max_uses`` None is any number. A grant that an agent passed
    on is revoked with the agent's own grant. An agent cannot pass on a grant with ``max_uses``.

    Raises `InvalidRequestError`, `UnknownAgentError`, `CapabilityMissingError`. Journals ``capability_granted``, and
    ``capability_check`` unless a grant was passed on. Source: Covenant, "Capability gating".
    """
    parsed = Action.parse(action)
    if parsed.local_part is not None:
        parsed = Action(parsed.verb, directory.typed(caller, parsed.local_part).display)
    pins = _check_scope(scope or {})
    scope = {"version": 1, **pins} if scope else {}
    if max_uses is not None and not 1 <= max_uses < 2**31:
        raise InvalidRequestError({"max_uses": "must be between 1 and 2147483647"})
    caller.must_do_more_than_send()
    with audit.decision(caller) as journal:
        check_to_come(expires_at, journal.now, path="expires_at")
        covering = _covering(caller, parsed, pins, expires_at, journal.now)
        wider = _grant_to_pass_on(subject, covering, journal)
        return give(
            journal,
            subject,
            str(parsed),
            scope=scope,
            expires_at=expires_at,
            max_uses=max_uses,
            granted_by=caller.name,
            passed_on_from=wider,
        )


def give(
    journal: audit.Journal,
    subject: Agent,
    action: str,
    *,
    scope: Mapping[str, Any] | None = None,
    granted_by: str,
    **fields: Any,
) -> CapabilityGrant:
    """Create a grant within the decision of ``journal``, and check nothing. ``fields`` are further columns."""
    pins = scope or {}
    made = CapabilityGrant.objects.create(
        subject=subject,
        action=action,
        scope=json_text.dumps(pins),
        granted_by=granted_by,
        created_at=journal.now,
        **fields,
    )
    journal.beside(access_entries.CapabilityGrantedEntry(made.grant_id, subject.display, action, pins, granted_by))
    return made


def revoke(caller: Caller, grant_id: UUID) -> CapabilityGrant:
    """Revoke a grant and all grants that were passed on from it. The next request of every process is affected.

    Needs ``a2a.capabilities.grant``; the agent that passed the grant on needs no capability. A second call changes
    nothing. Raises `UnknownGrantError`, `CapabilityMissingError`. Locks the grants; journals ``capability_revoked``
    for each.
    """
    caller.must_do_more_than_send()
    with audit.decision(caller) as journal:
        known = CapabilityGrant.objects.visible_to(caller.party)
        grant = known.select_for_update(of=("self",)).select_related("subject").filter(grant_id=grant_id).first()
        if grant is None:
            raise UnknownGrantError(f"No grant has the id {grant_id}.", grant_id=grant_id)
        if caller.agent is None or grant.subject == caller.agent:
            journal.admit(Request.to_revoke(grant_id))
        take_back(journal, grant)
    grant.refresh_from_db(fields=["revoked_at"])
    return grant


def take_back(journal: audit.Journal, grant: CapabilityGrant) -> None:
    """Revoke a locked grant and all grants passed on from it, within the decision of ``journal``. Checks nothing."""
    for fallen in _with_descendants(grant):
        CapabilityGrant.objects.filter(pk=fallen.pk).update(revoked_at=journal.now)
        journal.beside(access_entries.CapabilityRevokedEntry(fallen.grant_id, fallen.subject.display, fallen.action))


def _check_scope(scope: Mapping[str, Any]) -> Mapping[str, Any]:
    if not scope:
        return {}
    problems: dict[str, str] = {}
    pins: dict[str, str] = {}
    if type(scope.get("version")) is not int or scope["version"] != 1:  # True equals 1
        problems["scope.version"] = "non-empty scopes must set version 1"
    for name in scope.keys() - {"version"}:
        try:
            pins[name] = _check_pin(name, scope[name])
        except ValueError as error:
            problems[f"scope.{name}"] = str(error)
    if problems:
        raise InvalidRequestError(problems)
    return pins


def _check_pin(name: str, pin: object) -> str:
    """Return the pin as requests spell the field; raise ValueError for a pin that no request can equal."""
    if name not in SCOPE_FIELDS:
        raise ValueError(f"unknown scope field; known: {', '.join(SCOPE_FIELDS)}")
    if not isinstance(pin, str):
        raise ValueError("must be text")
    match name:
        case "task_id" | "lease_id":
            return str(UUID(pin))
        case "duplicate_risk" if pin not in RISKS:
            raise ValueError("must be idempotent or operator_accepted")
        case "peer_pubkey_b58" if not is_pubkey(pin):
            raise ValueError("must be a public key: base58 of 32 bytes")
    return pin


def _grant_to_pass_on(
    subject: Agent, covering: Sequence[CapabilityGrant], journal: audit.Journal
) -> CapabilityGrant | None:
    """Return the grant of ``covering`` that the caller passes on, None for a caller that may grant without one."""
    # A grant with max_uses cannot be passed on, because two counters would allow more uses.
    uncounted = [held for held in covering if held.max_uses is None]
    if uncounted:
        return uncounted[0]
    try:
        journal.admit(Request.to_grant(subject))
    except CapabilityMissingError as refusal:
        if not covering:
            raise
        raise CapabilityMissingError(
            "A grant with a number of uses cannot be passed on.", entry=refusal.entry, action=covering[0].action
        ) from refusal
    return None


def _covering(
    caller: Caller,
    action: Action,
    pins: Mapping[str, Any],
    expires_at: datetime | None,
    now: datetime,
) -> Sequence[CapabilityGrant]:
    """Return the live grants of the caller that cover the new grant. Locks the caller's grants."""
    if caller.agent is None or caller.trusted:
        return []
    covering = []
    for held in CapabilityGrant.objects.live(now).filter(subject=caller.agent).select_for_update():
        same_action = held.action in (str(action), f"{action.verb}.*")
        same_pins = all(pins.get(name) == pin for name, pin in held.pins.items())
        in_time = held.expires_at is None or (expires_at is not None and expires_at <= held.expires_at)
        if same_action and same_pins and in_time:
            covering.append(held)
    return covering


def _with_descendants(grant: CapabilityGrant) -> Iterable[CapabilityGrant]:
    level = [grant]
    while level:
        yield from (one for one in level if one.revoked_at is None)
        passed_on = CapabilityGrant.objects.filter(passed_on_from__in=[one.pk for one in level])
        level = list(passed_on.select_related("subject").select_for_update(of=("self",)))


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
            give(journal, agent, f"{requests.RESPOND}.{ANONYMOUS}", granted_by=caller.name)
        if not _to_send(agent, journal.now).exists():
            give(journal, anonymous, f"{requests.SEND}.{agent.display}", granted_by=caller.name)
            journal.beside(hub_entries.AgentOpenedEntry(agent.display, reason))


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
            take_back(journal, grant)
        if held:
            journal.beside(hub_entries.AgentClosedEntry(agent.display, reason))


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


def _locked(grants: CapabilityGrantQuerySet) -> CapabilityGrantQuerySet:
    return grants.select_related("subject").select_for_update(of=("self",))


def _held(agent: Agent) -> tuple[CapabilityGrant, ...]:
    """Return the grants of `_to_send` now, with their subject."""
    by_display, by_key = _sends(agent)
    return tuple(_live_to_send().rows(by_display=by_display, by_key=by_key, now=timezone.now()))


@compiled.once
def _live_to_send() -> CapabilityGrantQuerySet:
    """Return the query of `_held`, which every request without a key runs."""
    names = compiled.Parameter("by_display", TextField()), compiled.Parameter("by_key", TextField())
    return _naming(names, compiled.NOW).select_related("subject")


def _to_send(agent: Agent, now: datetime) -> CapabilityGrantQuerySet:
    """Return the live grants by which anyone may send to ``agent``."""
    return _naming(_sends(agent), now)


def _sends(agent: Agent) -> tuple[str, str]:
    """Return the actions that name the agent as recipient: by its display, and by its public key."""
    return f"{requests.SEND}.{agent.display}", f"{requests.SEND}.{agent.pubkey}"


def _naming(sends: tuple[object, object], now: Moment) -> CapabilityGrantQuerySet:
    """Return the live grants of ``anonymous@public`` for these actions.

    No agent passed them on. While a program has a credential of ``anonymous@public``, from an earlier version, there
    are none.
    """
    live = CapabilityGrant.objects.live(now).filter(subject__display=ANONYMOUS, action__in=sends, passed_on_from=None)
    return live.exclude(has_credential(now, OuterRef("subject")))


def _to_respond(agent: Agent, now: datetime) -> CapabilityGrantQuerySet:
    return CapabilityGrant.objects.live(now).filter(subject=agent, action=f"{requests.RESPOND}.{ANONYMOUS}")
