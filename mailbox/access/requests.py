"""Requests to the gate, with one constructor for each action that needs a capability.

Actions are spelled as grants spell them. A constructor also spells the scope id, which names the check in the journal.
Source: Covenant A2A, "Capability gating".
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self
from uuid import UUID

from mailbox.models import Agent, CapabilityGrant, Lease
from mailbox.words.envelopes import DISPLAY, LOCAL_PART, AgentRef, is_pubkey
from mailbox.words.errors import InvalidRequestError

SEND = "a2a.send"
RESPOND = "a2a.respond"
REQUEUE = "a2a.repair.requeue"
FORCE_ERROR = "a2a.repair.force_error"
COMPACT = "a2a.compact"
REGISTER = "a2a.agents.register"
GRANT = "a2a.capabilities.grant"  # held by admins only, never granted to an agent
RESEND = "a2a.push.resend"  # held by operators and admins only, like the six below
ROUTES = "a2a.routes"
DROP_REPLAY = "a2a.replay.drop"
PAUSE = "a2a.agents.pause"
MANAGE_REGISTRY = "a2a.registry.manage"  # for the job cards of other agents; an agent registers its own without it
VERIFY = "a2a.audit.verify"
SHARE_VIEWS = "a2a.views.share"
PROFILE = "a2a.agents.profile"  # held by admins only, like the two below
IMPORT = "a2a.inboxes.import"
TOOLS = "a2a.tools"

TARGETED = (SEND, RESPOND)
GRANTABLE = (REQUEUE, FORCE_ERROR, COMPACT, REGISTER)
_AUTO_RETRY = "a2a-auto-retry"
SCOPE_FIELDS = ("peer_pubkey_b58", "task_id", "lease_id", "duplicate_risk")


@dataclass(frozen=True, slots=True)
class Action:
    """An action as a grant spells it: a verb such as ``a2a.send``, and for some verbs the agent that it is aimed at."""

    verb: str
    target: str | None = None  # a display, a public key, or * for any agent

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``a2a.send.<agent>``, ``a2a.respond.<agent>`` or one of `GRANTABLE`; raise `InvalidRequestError`."""
        if text in GRANTABLE:
            return cls(text)
        for verb in TARGETED:
            target = text.removeprefix(f"{verb}.")
            if target == text:
                continue
            if target != "*" and not DISPLAY.fullmatch(target) and not LOCAL_PART.fullmatch(target):
                raise InvalidRequestError(
                    {"action": f'"{target[:200]}" is not the name of an agent; example: ben@local'}
                )
            return cls(verb, target)
        known = ", ".join([*(f"{verb}.<agent>" for verb in TARGETED), *GRANTABLE])
        raise InvalidRequestError({"action": f"unknown action; known actions: {known}"})

    @property
    def local_part(self) -> str | None:
        """The target if it is a bare local part; None for any other target, and for an action without a target."""
        target = self.target
        return None if target in (None, "*") or "@" in target or is_pubkey(target) else target

    def __str__(self) -> str:
        return self.verb if self.target is None else f"{self.verb}.{self.target}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One action that is about to be taken, with every field that a grant's scope may pin.

    ``scope_id`` names the check in the journal, such as ``a2a-send:research@local``. Each ``to_*`` constructor spells
    the action and the scope id of one kind of request, so that nothing else spells them.
    """

    verb: str
    scope_id: str
    target: Agent | AgentRef | None = None
    peer_pubkey_b58: str | None = None
    task_id: UUID | None = None
    lease_id: UUID | None = None
    duplicate_risk: str | None = None

    @classmethod
    def to_send(cls, recipient: Agent | AgentRef, task_id: UUID | None) -> Self:
        """Send a task; ``task_id`` None lets the hub choose the id."""
        return cls(
            verb=SEND,
            scope_id=f"a2a-send:{recipient}",
            target=recipient,
            peer_pubkey_b58=recipient.pubkey,
            task_id=task_id,
        )

    @classmethod
    def to_respond(cls, sender: Agent, task_id: UUID, lease_id: UUID | None) -> Self:
        """Post a result; ``lease_id`` is the lease that the caller names, None without one."""
        return cls(
            verb=RESPOND,
            scope_id=f"a2a-respond:{task_id}",
            target=sender,
            peer_pubkey_b58=sender.pubkey,
            task_id=task_id,
            lease_id=lease_id,
        )

    @classmethod
    def to_acknowledge(cls, task_id: UUID) -> Self:
        """Acknowledge the result of a task that a person sent."""
        return cls(verb=SEND, scope_id=f"a2a-ack:{task_id}", task_id=task_id)

    @classmethod
    def to_repair(
        cls,
        verb: str,
        task_id: UUID,
        *,
        lease_id: UUID | None,
        peer: Agent | None = None,
        duplicate_risk: str | None = None,
    ) -> Self:
        """Repair one task.

        ``verb`` is `actions.REQUEUE` or `actions.FORCE_ERROR`; ``peer`` is the other party, if known.
        """
        return cls(
            verb=verb,
            scope_id=f"a2a-repair:{task_id}",
            peer_pubkey_b58=peer.pubkey if peer else None,
            task_id=task_id,
            lease_id=lease_id,
            duplicate_risk=duplicate_risk,
        )

    @classmethod
    def to_repair_by_plan(cls, verb: str) -> Self:
        """Make, apply or discard a plan of repairs with ``verb``."""
        return cls(verb=verb, scope_id="a2a-repair-plan")

    @classmethod
    def to_scan(cls) -> Self:
        """Run one pass of the retry gate."""
        return cls(verb=REQUEUE, scope_id=_AUTO_RETRY)

    @classmethod
    def to_auto_requeue(cls, lease: Lease, peer: Agent) -> Self:
        """Requeue the task of ``lease`` within a pass of the retry gate; ``peer`` is the other party."""
        return cls(
            verb=REQUEUE,
            scope_id=_AUTO_RETRY,
            peer_pubkey_b58=peer.pubkey,
            task_id=lease.task.uuid,
            lease_id=lease.lease_id,
            duplicate_risk="idempotent",
        )

    @classmethod
    def to_compact(cls) -> Self:
        return cls(verb=COMPACT, scope_id="a2a:compact")

    @classmethod
    def to_register(cls, display: str) -> Self:
        return cls(verb=REGISTER, scope_id=f"a2a-register:{display}")

    @classmethod
    def to_pause(cls, agent: Agent) -> Self:
        """Pause or resume an agent."""
        return cls(verb=PAUSE, scope_id=f"a2a-pause:{agent}", peer_pubkey_b58=agent.pubkey)

    @classmethod
    def to_grant(cls, subject: Agent) -> Self:
        return cls(verb=GRANT, scope_id=f"a2a-grant:{subject}", peer_pubkey_b58=subject.pubkey)

    @classmethod
    def to_open(cls, agent: Agent) -> Self:
        """Open an agent to callers without a key, or close it."""
        return cls(verb=GRANT, scope_id=f"a2a-open:{agent}", peer_pubkey_b58=agent.pubkey)

    @classmethod
    def to_revoke(cls, grant_id: UUID) -> Self:
        """Revoke a grant."""
        return cls(verb=GRANT, scope_id=f"a2a-revoke:{grant_id}")

    @classmethod
    def to_manage_keys(cls, owner: str) -> Self:
        """Add, list or revoke API keys; ``owner`` is an agent's display or a person's username, ``*`` for all keys."""
        return cls(verb=GRANT, scope_id=f"a2a-key:{owner}")

    @classmethod
    def to_manage_person(cls, username: str) -> Self:
        """Add, list or change people; ``username`` is ``*`` for all people."""
        return cls(verb=GRANT, scope_id=f"a2a-person:{username}")

    @classmethod
    def to_manage_route(cls, agent: Agent | str | None) -> Self:
        """Add, list or revoke public routes; ``agent`` is ``*`` for all routes, None for an unknown route."""
        return cls(verb=ROUTES, scope_id=f"a2a-route:{agent or 'unknown'}")

    @classmethod
    def to_resend(cls, delivery_id: UUID) -> Self:
        """Send a callback again."""
        return cls(verb=RESEND, scope_id=f"a2a-push:{delivery_id}")

    @classmethod
    def to_drop_replay(cls, entry_id: int) -> Self:
        """Drop a cached result."""
        return cls(verb=DROP_REPLAY, scope_id=f"a2a-replay:{entry_id}")

    @classmethod
    def to_import(cls, recipient: str) -> Self:
        """Import the tasks of an agent, named by its display."""
        return cls(verb=IMPORT, scope_id=f"a2a-import:{recipient}")

    @classmethod
    def to_change_profile(cls, agent: Agent) -> Self:
        return cls(verb=PROFILE, scope_id=f"a2a-profile:{agent}", peer_pubkey_b58=agent.pubkey)

    @classmethod
    def to_set_quota(cls, agent: Agent) -> Self:
        return cls(verb=PROFILE, scope_id=f"a2a-quota:{agent}", peer_pubkey_b58=agent.pubkey)

    @classmethod
    def to_manage_cards(cls, job_id: str) -> Self:
        """Register or remove job cards of other agents; ``job_id`` is ``*`` for all jobs."""
        return cls(verb=MANAGE_REGISTRY, scope_id=f"a2a-registry:{job_id}")

    @classmethod
    def to_verify(cls) -> Self:
        """Verify the sealed journal, or prove one of its rows."""
        return cls(verb=VERIFY, scope_id="a2a-audit")

    @classmethod
    def to_share_view(cls, page: str) -> Self:
        """Share a view of this page with all people, change a shared one, or end the sharing by another person."""
        return cls(verb=SHARE_VIEWS, scope_id=f"a2a-view:{page}")

    @classmethod
    def to_manage_tools(cls) -> Self:
        return cls(verb=TOOLS, scope_id="a2a-tools")

    @classmethod
    def to_post(cls, verb: str, path: str) -> Self:
        """Post a form of the dashboard at ``path``."""
        return cls(verb=verb, scope_id=f"ops:{path}"[:200])

    @property
    def action(self) -> str:
        """The action as a grant for exactly this target spells it."""
        return self.verb if self.target is None else f"{self.verb}.{self.target}"

    def matched_by(self, grant: CapabilityGrant) -> bool:
        """Whether the grant is for this action. The verb and the whole target are compared, never a prefix."""
        return grant.action == self.verb if self.target is None else is_for(grant, self.verb, self.target)

    def admitted_by(self, pins: Mapping[str, Any]) -> bool:
        """Whether every pinned field equals the request's field. A pin of an unknown field admits no request."""
        return all(name in SCOPE_FIELDS and _normal(name, pin) == self._field(name) for name, pin in pins.items())

    def _field(self, name: str) -> str | None:
        value = getattr(self, name)
        return None if value is None else _normal(name, value)


def is_for(grant: CapabilityGrant, verb: str, target: Agent | AgentRef) -> bool:
    """Whether the grant is for ``verb`` and names ``target`` by its display or public key, or as ``*``."""
    names = (target.display, target.pubkey, "*")
    return any(name is not None and grant.action == f"{verb}.{name}" for name in names)


def _normal(name: str, value: object) -> str:
    """Return the value as text. Covenant spells a risk ``operator-accepted`` and ``operator_accepted``."""
    return str(value).replace("-", "_") if name == "duplicate_risk" else str(value)
