"""One class per refusal. The class names the reason; dialect tables spell it on their wire."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self
from uuid import UUID

from mailbox.words.kinds import Entry


class MailboxError(Exception):
    """The mailbox refused the request."""

    code = "refused"

    def __init__(self, message: str | None = None, *, entry: Entry[Any] | None = None, **ids: object) -> None:
        """``ids`` are the offending identifiers, shown to the caller beside the message.

        ``entry`` is the journal row of this refusal; `audit.decision` writes it once the refused
        change has been rolled back.
        """
        self.message = message or (self.__doc__ or "").strip()
        self.entry = entry
        self.ids = {name: None if value is None else str(value) for name, value in ids.items()}
        super().__init__(self.message)


class InvalidRequestError(MailboxError):
    """The request is not well-formed."""

    code = "invalid_request"

    def __init__(self, fields: Mapping[str, str]) -> None:
        """``fields`` maps the path of each offending field to what is wrong with it."""
        self.fields = dict(fields)
        super().__init__("; ".join(f"{path}: {problem}" for path, problem in self.fields.items()))


class InvalidJsonError(MailboxError):
    """The text is not JSON that this hub accepts."""

    code = "invalid_json"


class UnauthenticatedError(MailboxError):
    """Send an API key: Authorization: Bearer <key>, X-API-Key: <key>, or HTTP Basic with the key as password."""

    code = "unauthenticated"


class Remedy(StrEnum):
    """What would admit a caller that lacks a capability."""

    GROUP = "group"  # to act as a person whose group holds the action
    TARGET = "target"  # to name an agent that is registered, and no other with it
    GRANT = "grant"  # a grant to the caller's agent


@dataclass(frozen=True, slots=True, kw_only=True)
class Lack:
    """What a caller lacks for one request.

    ``action`` is spelled as a grant for just this target would spell it. ``target`` is the agent as the request names
    it, None for an action without one. ``agent`` is the display of the caller's agent and ``group`` the group of the
    person who calls; None where there is none. ``held_by`` are the groups that hold the action.
    """

    action: str
    scope_id: str
    target: str | None
    agent: str | None
    group: str | None
    held_by: Sequence[str]
    remedy: Remedy


class CapabilityMissingError(MailboxError):
    """The caller holds no live grant for this action."""

    code = "capability_missing"

    def __init__(
        self, message: str | None = None, *, lack: Lack | None = None, entry: Entry[Any] | None = None, **ids: object
    ) -> None:
        """``lack`` is what would have to change; None where a race took the last use of a grant."""
        self.lack = lack
        super().__init__(message, entry=entry, **ids)


class CapabilityScopeMismatchError(MailboxError):
    """The caller's grants for this action are pinned to something else."""

    code = "capability_scope_mismatch"


class WrongPartyError(MailboxError):
    """Only agents can do this; use an agent's key."""

    code = "not_an_agent"


class SenderMismatchError(MailboxError):
    """task.sender must be the authenticated caller; leave it out to send as yourself."""

    code = "sender_mismatch"


class UnknownTaskError(MailboxError):
    """No such task is known to this caller."""

    code = "unknown_task"

    @classmethod
    def of(cls, task_id: UUID, *, entry: Entry[Any] | None = None) -> Self:
        """Return the one answer for a task that is absent, and for one that is not the caller's business."""
        return cls(f"no task {task_id} is known to you", entry=entry, task_id=task_id)


class UnknownAgentError(MailboxError):
    """No such agent is registered at this hub."""

    code = "unknown_agent"


class UnknownGrantError(MailboxError):
    """No such grant is known to this caller."""

    code = "unknown_grant"


class UnknownKeyError(MailboxError):
    """No such API key."""

    code = "unknown_key"


class UnknownRouteError(MailboxError):
    """No such route."""

    code = "unknown_route"


class UnknownReplayEntryError(MailboxError):
    """No such replay entry."""

    code = "unknown_replay_entry"


class UnknownPlanError(MailboxError):
    """No such plan of repairs."""

    code = "unknown_plan"


class PlanClosedError(MailboxError):
    """The plan can no longer be applied; make a new one."""

    code = "plan_closed"


class UnknownDeliveryError(MailboxError):
    """No such delivery."""

    code = "unknown_delivery"


class AgentConflictError(MailboxError):
    """That name or public key is already registered."""

    code = "agent_conflict"


class KeyLimitError(MailboxError):
    """This owner already has two live keys; revoke one first."""

    code = "key_limit"


class TaskConflictError(MailboxError):
    """That task id is already taken; choose another."""

    code = "task_conflict"


class ResultConflictError(MailboxError):
    """The task already has a different result."""

    code = "result_conflict"


class LeaseMismatchError(MailboxError):
    """The lease named in the request is not the live one."""

    code = "lease_mismatch"


class NotInFlightError(MailboxError):
    """The task is not leased to anyone."""

    code = "not_in_flight"


class AlreadyResolvedError(MailboxError):
    """The task is already resolved."""

    code = "already_resolved"


class DuplicateRiskMismatchError(MailboxError):
    """duplicate_risk idempotent needs a task that declares idempotent with a key; use operator_accepted."""

    code = "duplicate_risk_mismatch"


class RateLimitedError(MailboxError):
    """Too many requests; wait and try again."""

    code = "rate_limited"

    def __init__(self, message: str | None = None, *, retry_after: int) -> None:
        """``retry_after`` is in whole seconds."""
        self.retry_after = retry_after
        super().__init__(message)


class WaitTimeoutError(MailboxError):
    """Nothing arrived before the timeout."""

    code = "timeout"
