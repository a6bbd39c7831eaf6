"""The gate: whether a caller may take an action, and which tasks and leases it may see.

Source: Covenant A2A, "Capability gating".
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import F

from mailbox.access import requests
from mailbox.access.callers import Caller, Role
from mailbox.access.requests import SCOPE_FIELDS, Request
from mailbox.journal import access_entries
from mailbox.models import Agent, CapabilityGrant, Lease, Task
from mailbox.models.lease import LeaseQuerySet
from mailbox.models.task import TaskQuerySet
from mailbox.words import errors
from mailbox.words.envelopes import AgentRef
from mailbox.words.kinds import Entry

_OPERATOR_ACTIONS = frozenset(
    {
        *(requests.SEND, requests.REQUEUE, requests.FORCE_ERROR, requests.DROP_REPLAY, requests.RESEND),
        *(requests.ROUTES, requests.PAUSE, requests.MANAGE_REGISTRY, requests.VERIFY),
        requests.SHARE_VIEWS,
    }
)
_ADMIN_ACTIONS = frozenset(
    {requests.COMPACT, requests.REGISTER, requests.GRANT, requests.PROFILE, requests.IMPORT, requests.TOOLS}
)
ROLE_ACTIONS: Mapping[Role, frozenset[str]] = {
    Role.VIEWER: frozenset(),
    Role.OPERATOR: _OPERATOR_ACTIONS,
    Role.ADMIN: _OPERATOR_ACTIONS | _ADMIN_ACTIONS,
}


@dataclass(frozen=True, slots=True)
class Permit:
    """The answer of `require`: the journal row of the check, and the grant that allows the action.

    ``grant`` is None if the caller's role or trust allows the action.
    """

    check: Entry
    grant: CapabilityGrant | None = None

    def use(self, request: Request, now: datetime) -> None:
        """Count one use of the grant for ``request``, in the transaction of the change.

        Raise `CapabilityMissingError`, with the journal row of the refusal, if the grant has ended since `require`.
        """
        if self.grant is None or self.grant.max_uses is None:
            return
        live = CapabilityGrant.objects.live(now).filter(pk=self.grant.pk)
        if not live.update(uses=F("uses") + 1):
            raise errors.CapabilityMissingError(
                f"The grant for {self.grant.action} was used up, was revoked or has expired.",
                entry=_check(request, None),
                action=self.grant.action,
            )


def require(caller: Caller, request: Request, now: datetime) -> Permit:
    """Return the permit for ``request``; raise `CapabilityMissingError` or `CapabilityScopeMismatchError`.

    Raise `WrongPartyError` for a caller by a public route, unless it sends a task.
    A grant must be for the action, and its scope must admit the request. One such grant suffices; a grant without
    ``max_uses`` is preferred. The errors carry the journal row of the refusal, which `audit.decision` commits.
    """
    if request.verb != requests.SEND:
        caller.must_do_more_than_send()
    if caller.trusted:
        return Permit(
            _check(request, access_entries.Authorization(action=request.action, granted_by_display="local trust"))
        )
    if caller.role is not None and request.verb in ROLE_ACTIONS[caller.role]:
        by = access_entries.Authorization(action=request.action, granted_by_display=f"role:{caller.role}")
        return Permit(_check(request, by))
    matching = [grant for grant in live_grants(caller, now) if request.matched_by(grant)]
    for grant in sorted(matching, key=lambda grant: grant.max_uses is not None):
        if request.admitted_by(grant.pins):
            by = access_entries.Authorization(
                action=grant.action, granted_by_display=grant.granted_by, grant_id=str(grant.grant_id)
            )
            return Permit(_check(request, by), grant)
    if matching:
        raise _scope_mismatch(request)
    raise _missing(caller, request)


def holds(caller: Caller, verb: str, now: datetime) -> bool:
    """Whether the caller may take ``verb`` within some scope. Journals nothing and counts no use.

    ``verb`` is an action without a target: a grant for ``a2a.send.<agent>`` does not match ``a2a.send``.
    """
    if caller.trusted or (caller.role is not None and verb in ROLE_ACTIONS[caller.role]):
        return True
    return any(grant.action == verb for grant in live_grants(caller, now))


def require_in_some_scope(caller: Caller, request: Request, now: datetime) -> None:
    """Raise `CapabilityMissingError` for a caller that may not take the action in any scope.

    Journals nothing and counts no use. A pass over many tasks begins with this check, and then admits a request for
    each task.
    """
    if not holds(caller, request.verb, now):
        require(caller, request, now)


def live_grants(caller: Caller, now: datetime) -> Iterable[CapabilityGrant]:
    """Return the caller's live grants. `Caller.grants` are not read again."""
    if caller.grants is not None:
        return caller.grants
    return CapabilityGrant.objects.live(now).filter(subject=caller.agent) if caller.agent else ()


def not_theirs(caller: Caller, task_id: UUID, *, only: str, entry: Entry | None = None) -> errors.UnknownTaskError:
    """Return the error for a task that another agent decides on.

    A party to the task reads ``only``, a clause that names that agent. Any other caller reads the same message as for
    an absent task. ``entry`` is the journal row of the refusal.
    """
    if caller.agent and Task.objects.visible_to(caller.agent).filter(uuid=task_id).exists():
        return errors.UnknownTaskError(f"You are a party to task {task_id}, but {only}.", entry=entry, task_id=task_id)
    return errors.UnknownTaskError.of(task_id, entry=entry)


def _check(request: Request, authorized_by: access_entries.Authorization | None) -> Entry:
    """Return the journal row of a check. ``authorized_by`` is None for a caller that may not."""
    return access_entries.CapabilityCheckEntry(
        agent_id=request.scope_id,
        required_actions=[request.action],
        missing_actions=[] if authorized_by else [request.action],
        passed=authorized_by is not None,
        authorized_by=[authorized_by] if authorized_by else [],
        task_id=request.task_id,
    )


def _missing(caller: Caller, request: Request) -> errors.CapabilityMissingError:
    lack = errors.Lack(
        action=request.action,
        scope_id=request.scope_id,
        target=None if request.target is None else str(request.target),
        agent=caller.agent.display if caller.agent else None,
        group=caller.role,
        held_by=[role for role, held in ROLE_ACTIONS.items() if request.verb in held],
        remedy=_remedy(caller, request),
    )
    return errors.CapabilityMissingError(
        f'This requires capability "{request.action}".',
        lack=lack,
        entry=_check(request, None),
        action=request.action,
    )


def _remedy(caller: Caller, request: Request) -> errors.Remedy:
    if caller.agent is None or request.verb not in (*requests.TARGETED, *requests.GRANTABLE):
        return errors.Remedy.GROUP
    if isinstance(request.target, AgentRef) and "@" not in str(request.target) and not request.target.pubkey:
        return errors.Remedy.TARGET
    return errors.Remedy.GRANT


def _scope_mismatch(request: Request) -> errors.CapabilityScopeMismatchError:
    reason = f"every grant for it pins another {', '.join(SCOPE_FIELDS[:-1])} or {SCOPE_FIELDS[-1]}"
    return errors.CapabilityScopeMismatchError(
        f'Capability "{request.action}" does not cover this request: {reason}.',
        entry=access_entries.CapabilityScopeRejectedEntry(
            request.scope_id, request.action, reason, task_id=request.task_id
        ),
        action=request.action,
    )


def visible_tasks(caller: Caller) -> TaskQuerySet:
    """Return the tasks that the caller may see.

    An agent sees the tasks that it is party to. By a public route it sees only the tasks that it sent. People and the
    hub itself see all tasks.
    """
    if caller.sends_only and caller.agent is not None:
        return Task.objects.sent_by(caller.agent)
    return Task.objects.visible_to(caller.party)


def own_a2a_tasks(caller: Caller, recipient: Agent) -> TaskQuerySet:
    """Return the tasks that the caller sent to ``recipient`` by the official protocol. People have none."""
    return Task.objects.filter(sender=caller.agent, recipient=recipient).of_official_dialect()


def visible_leases(caller: Caller) -> LeaseQuerySet:
    """Return the leases, live or ended, of the tasks that the caller may see."""
    if caller.sends_only and caller.agent is not None:
        return Lease.objects.of_tasks_from(caller.agent)
    return Lease.objects.visible_to(caller.party)
