"""Grants: given and revoked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from mailbox.access import audit
from mailbox.access.actions import Action
from mailbox.access.agents import directory
from mailbox.access.callers import Caller
from mailbox.access.requests import SCOPE_FIELDS, Request
from mailbox.journal import entries
from mailbox.models import Agent, CapabilityGrant
from mailbox.words import json_text
from mailbox.words.envelopes import check_to_come, is_pubkey
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
    told = scope or {}
    made = CapabilityGrant.objects.create(
        subject=subject,
        action=action,
        scope=json_text.dumps(told),
        granted_by=granted_by,
        created_at=journal.now,
        **fields,
    )
    journal.beside(
        entries.capability_granted(made.grant_id, subject.display, action, scope=told, granted_by=granted_by)
    )
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
        found = known.select_for_update(of=("self",)).select_related("subject").filter(grant_id=grant_id).first()
        if found is None:
            raise UnknownGrantError(f"No grant has the id {grant_id}.", grant_id=grant_id)
        if caller.agent is None or found.subject == caller.agent:
            journal.admit(Request.to_revoke(grant_id))
        take_back(journal, found)
    found.refresh_from_db(fields=["revoked_at"])
    return found


def take_back(journal: audit.Journal, grant: CapabilityGrant) -> None:
    """Revoke a locked grant and all grants passed on from it, within the decision of ``journal``. Checks nothing."""
    for fallen in _with_descendants(grant):
        CapabilityGrant.objects.filter(pk=fallen.pk).update(revoked_at=journal.now)
        journal.beside(entries.capability_revoked(fallen.grant_id, fallen.subject.display, fallen.action))


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


def _with_descendants(found: CapabilityGrant) -> Iterable[CapabilityGrant]:
    level = [found]
    while level:
        yield from (one for one in level if one.revoked_at is None)
        passed_on = CapabilityGrant.objects.filter(passed_on_from__in=[one.pk for one in level])
        level = list(passed_on.select_related("subject").select_for_update(of=("self",)))
