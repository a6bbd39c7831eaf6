"""The gate: may this caller take this action? Source: Covenant A2A, "Capability gating"."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self
from uuid import UUID

from django.db.models import F

from mailbox.gate.callers import Caller, Role
from mailbox.models import Agent, CapabilityGrant, Task
from mailbox.words.envelopes import DISPLAY, LOCAL_PART, AgentRef, is_pubkey
from mailbox.words.errors import (
    CapabilityMissingError,
    CapabilityScopeMismatchError,
    Draft,
    InvalidRequestError,
    Lack,
    Remedy,
    UnknownTaskError,
)
from mailbox.words.kinds import Kind

SEND = "a2a.send"
RESPOND = "a2a.respond"
REQUEUE = "a2a.repair.requeue"
FORCE_ERROR = "a2a.repair.force_error"
COMPACT = "a2a.compact"
REGISTER = "a2a.agents.register"
GRANT = "a2a.capabilities.grant"  # held by admins only, never granted to an agent
RESEND = "a2a.push.resend"  # held by operators and admins only, as the four below
ROUTES = "a2a.routes"
DROP_REPLAY = "a2a.replay.drop"
PAUSE = "a2a.agents.pause"
MANAGE_REGISTRY = "a2a.registry.manage"  # other agents' job cards; its own an agent registers without
PROFILE = "a2a.agents.profile"  # held by admins only, as the two below
IMPORT = "a2a.inboxes.import"
TOOLS = "a2a.tools"

TARGETED = (SEND, RESPOND)
GRANTABLE = (REQUEUE, FORCE_ERROR, COMPACT, REGISTER)
SCOPE_FIELDS = ("peer_pubkey_b58", "task_id", "lease_id", "duplicate_risk")

_OPERATOR_ACTIONS = frozenset({SEND, REQUEUE, FORCE_ERROR, DROP_REPLAY, RESEND, ROUTES, PAUSE, MANAGE_REGISTRY})
ROLE_ACTIONS: Mapping[Role, frozenset[str]] = {
    Role.VIEWER: frozenset(),
    Role.OPERATOR: _OPERATOR_ACTIONS,
    Role.ADMIN: _OPERATOR_ACTIONS | {COMPACT, REGISTER, GRANT, PROFILE, IMPORT, TOOLS},
}


@dataclass(frozen=True, slots=True)
class Action:
    """A verb such as ``a2a.send`` and, where it has one, the agent it is aimed at."""

    verb: str
    target: str | None = None  # a display, a public key, or * for any agent

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``a2a.send.<agent>`` or a plain action; raise `InvalidRequestError` for any other text."""
        if text in GRANTABLE:
            return cls(text)
        for verb in TARGETED:
            target = text.removeprefix(f"{verb}.")
            if target == text:
                continue
            if target != "*" and not DISPLAY.fullmatch(target) and not LOCAL_PART.fullmatch(target):
                raise InvalidRequestError({"action": f'"{target[:200]}" is no agent: name it whole, such as ben@local'})
            return cls(verb, target)
        known = ", ".join([*(f"{verb}.<agent>" for verb in TARGETED), *GRANTABLE])
        raise InvalidRequestError({"action": f"unknown action; known: {known}"})

    def whole(self) -> Self:
        """Return the action aimed at a whole name; raise `UnknownAgentError` for a bare one that fits no single agent."""
        target = self.target
        if target in (None, "*") or "@" in target or is_pubkey(target):
            return self
        return type(self)(self.verb, Agent.objects.named(AgentRef.parse(target)).display)

    def __str__(self) -> str:
        return self.verb if self.target is None else f"{self.verb}.{self.target}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One action as it is about to be taken, with all that a scope may pin.

    ``scope_id`` names the check in the journal, such as ``a2a-send:research@local``.
    """

    verb: str
    scope_id: str
    target: Agent | AgentRef | None = None
    peer_pubkey_b58: str | None = None
    task_id: UUID | None = None
    lease_id: UUID | None = None
    duplicate_risk: str | None = None

    @property
    def action(self) -> str:
        """The action as a grant for just this target would spell it."""
        return self.verb if self.target is None else f"{self.verb}.{self.target}"

    def matched_by(self, grant: CapabilityGrant) -> bool:
        """Whether the grant is for this action, compared by segment: the verb, then the whole target."""
        if self.target is None:
            return grant.action == self.verb
        names = (self.target.display, self.target.pubkey, "*")
        return any(name is not None and grant.action == f"{self.verb}.{name}" for name in names)

    def admitted_by(self, pins: Mapping[str, Any]) -> bool:
        """Whether every pinned field equals this request's; a field this hub does not know admits nothing."""
        return all(name in SCOPE_FIELDS and _normal(name, pin) == self._field(name) for name, pin in pins.items())

    def _field(self, name: str) -> str | None:
        value = getattr(self, name)
        return None if value is None else _normal(name, value)


@dataclass(frozen=True, slots=True)
class Permit:
    """What `require` found: the journal row of the check, and the grant it rests on if it is one."""

    draft: Draft
    grant: CapabilityGrant | None = None

    def use(self, now: datetime) -> None:
        """Count one use, in the transaction of the change; raise `CapabilityMissingError` if a race took the last."""
        if self.grant is None or self.grant.max_uses is None:
            return
        live = CapabilityGrant.objects.live(now).filter(pk=self.grant.pk)
        if not live.update(uses=F("uses") + 1):
            raise CapabilityMissingError(
                f"the grant for {self.grant.action} has no uses left", action=self.grant.action
            )


def require(caller: Caller, request: Request, now: datetime) -> Permit:
    """Return the permit for ``request``, or raise `CapabilityMissingError` or `CapabilityScopeMismatchError`.

    Order: action, then scope, then `Permit.use`. Any one matching grant suffices. The errors carry
    the journal row of the refusal; `audit.decision` commits it.
    """
    if caller.trusted:
        return Permit(_check(request, authorized_by={"granted_by_display": "local trust"}))
    if caller.role is not None and request.verb in ROLE_ACTIONS[caller.role]:
        return Permit(_check(request, authorized_by={"granted_by_display": f"role:{caller.role}"}))
    matching = [grant for grant in live_grants(caller, now) if request.matched_by(grant)]
    for grant in sorted(matching, key=lambda grant: grant.max_uses is not None):
        if request.admitted_by(grant.pins):
            by = {"granted_by_display": grant.granted_by, "grant_id": str(grant.grant_id)}
            return Permit(_check(request, authorized_by={"action": grant.action, **by}), grant)
    if matching:
        raise _scope_mismatch(request)
    raise _missing(caller, request)


def holds(caller: Caller, verb: str, now: datetime) -> bool:
    """Whether the caller may take ``verb`` at least within some scope; nothing is journalled or counted."""
    if caller.trusted or (caller.role is not None and verb in ROLE_ACTIONS[caller.role]):
        return True
    return any(grant.action == verb for grant in live_grants(caller, now))


def live_grants(caller: Caller, now: datetime) -> Iterable[CapabilityGrant]:
    """Return the caller's live grants: as the credential look-up of this request read them, else from the table."""
    if caller.grants is not None:
        return caller.grants
    return CapabilityGrant.objects.live(now).filter(subject=caller.agent) if caller.agent else ()


def not_theirs(caller: Caller, task_id: UUID, *, only: str, draft: Draft | None = None) -> UnknownTaskError:
    """Return the refusal of a task that the caller may not decide on: ``only`` tells a party to it who may.

    Whoever is none reads the very words of an absent task. ``draft`` is the journal row of the refusal.
    """
    if caller.agent and Task.objects.visible_to(caller.agent).filter(uuid=task_id).exists():
        return UnknownTaskError(f"you are a party to task {task_id}, but {only}", draft=draft, task_id=task_id)
    return UnknownTaskError.of(task_id, draft=draft)


def _check(request: Request, authorized_by: Mapping[str, str] | None) -> Draft:
    action = request.action
    return Draft(
        kind=Kind.CAPABILITY_CHECK,
        task_id=request.task_id,
        data={
            "agent_id": request.scope_id,
            "required_actions": [action],
            "missing_actions": [] if authorized_by else [action],
            "passed": authorized_by is not None,
            "authorized_by": [{"action": action, **authorized_by}] if authorized_by else [],
        },
    )


def _missing(caller: Caller, request: Request) -> CapabilityMissingError:
    lack = Lack(
        action=request.action,
        scope_id=request.scope_id,
        target=None if request.target is None else str(request.target),
        agent=caller.agent.display if caller.agent else None,
        group=caller.role,
        held_by=[role for role, held in ROLE_ACTIONS.items() if request.verb in held],
        remedy=_remedy(caller, request),
    )
    return CapabilityMissingError(
        f'this requires capability "{request.action}".',
        lack=lack,
        draft=_check(request, authorized_by=None),
        action=request.action,
    )


def _remedy(caller: Caller, request: Request) -> Remedy:
    if caller.agent is None or request.verb not in (*TARGETED, *GRANTABLE):
        return Remedy.GROUP
    if isinstance(request.target, AgentRef) and "@" not in str(request.target) and not request.target.pubkey:
        return Remedy.TARGET
    return Remedy.GRANT


def _scope_mismatch(request: Request) -> CapabilityScopeMismatchError:
    reason = f"every grant for it is pinned to another {', '.join(SCOPE_FIELDS[:-1])} or {SCOPE_FIELDS[-1]}"
    data = {"agent_id": request.scope_id, "action": request.action, "reason": reason}
    return CapabilityScopeMismatchError(
        f'capability "{request.action}" does not cover this request: {reason}.',
        draft=Draft(kind=Kind.CAPABILITY_SCOPE_REJECTED, task_id=request.task_id, data=data),
        action=request.action,
    )


def _normal(name: str, value: object) -> str:
    """Covenant spells the risk both ``operator-accepted`` and ``operator_accepted``."""
    return str(value).replace("-", "_") if name == "duplicate_risk" else str(value)
