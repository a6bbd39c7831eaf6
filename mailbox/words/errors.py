"""The errors of the mailbox, one class per reason, and the texts that callers read.

Each dialect maps the classes to its own format. The docstring of a class is its default message. If a capability is
missing, the text also says how to get it, in the words of its readers. Programs get the command that their operator can
run. People get the groups that hold the capability. `Allowance` has the requests that a limit still grants, as the
headers RateLimit and RateLimit-Policy report them. Source: draft-ietf-httpapi-ratelimit-headers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Self
from uuid import UUID

from mailbox.words.kinds import Entry

SHOWN = 200  # characters of a name that an error repeats


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """The state of one limit after a request.

    ``policy`` is the limit's name. A caller gets ``quota`` requests in ``window`` seconds, and has ``remaining`` of
    them now. ``reset`` is the number of whole seconds until it may have more. ``window`` None: a quota of things that
    the hub keeps for the caller.
    """

    policy: str
    quota: int
    window: int | None
    remaining: int
    reset: int

    def headers(self) -> dict[str, str]:
        """Return both headers by name."""
        window = "" if self.window is None else f";w={self.window}"
        return {
            "RateLimit-Policy": f'"{self.policy}";q={self.quota}{window}',
            "RateLimit": f'"{self.policy}";r={self.remaining};t={self.reset}',
        }


class MailboxError(Exception):
    """The mailbox refused the request."""

    code = "refused"

    def __init__(self, message: str | None = None, *, entry: Entry | None = None, **ids: object) -> None:
        """``ids`` are the identifiers at fault. Callers get them beside the message.

        ``entry`` is the journal row of this error. `audit.decision` writes it after it has rolled the change back.
        """
        self.message = message or (self.__doc__ or "").strip()
        self.entry = entry
        self.ids = {name: None if value is None else str(value) for name, value in ids.items()}
        super().__init__(self.message)


class InvalidRequestError(MailboxError):
    """The request is invalid."""

    code = "invalid_request"

    def __init__(self, fields: Mapping[str, str]) -> None:
        """``fields`` maps the path of each invalid field to its problem."""
        self.fields = dict(fields)
        super().__init__("; ".join(f"{path}: {problem}" for path, problem in self.fields.items()))


class InvalidJsonError(MailboxError):
    """The text is not valid JSON, or is JSON that this hub cannot store."""

    code = "invalid_json"


class UnauthenticatedError(MailboxError):
    """Send an API key: Authorization: Bearer <key>, X-API-Key: <key>, or HTTP Basic with the key as password."""

    code = "unauthenticated"


class Remedy(StrEnum):
    """A way to get past a missing capability."""

    GROUP = "group"  # act as a person whose group holds the action
    TARGET = "target"  # name exactly one registered agent
    GRANT = "grant"  # give the caller's agent a grant


@dataclass(frozen=True, slots=True, kw_only=True)
class Lack:
    """The capability that a caller lacks for a request.

    ``action`` is spelled as in a grant for exactly this target. ``target`` is the agent that the request names, None
    if the action has no target. ``agent`` is the display of the caller's agent, None for people. ``group`` is the
    person's group, None for agents and for people without a group. ``held_by`` lists the groups that hold the action.
    """

    action: str
    scope_id: str
    target: str | None
    agent: str | None
    group: str | None
    held_by: Sequence[str]
    remedy: Remedy


class CapabilityMissingError(MailboxError):
    """The caller has no valid grant for this action."""

    code = "capability_missing"

    def __init__(
        self, message: str | None = None, *, lack: Lack | None = None, entry: Entry | None = None, **ids: object
    ) -> None:
        """``lack`` describes the missing capability; None if a grant ended or cannot be passed on."""
        self.lack = lack
        super().__init__(message, entry=entry, **ids)


class CapabilityScopeMismatchError(MailboxError):
    """The caller's grants for this action have scopes that exclude this request."""

    code = "capability_scope_mismatch"


class WrongPartyError(MailboxError):
    """Only agents can do this. Use the API key of an agent."""

    code = "not_an_agent"


class NotSealedError(MailboxError):
    """The journal has no sealed row with this id, or its block is not whole."""

    code = "not_sealed"


class SenderMismatchError(MailboxError):
    """task.sender must be the authenticated caller; leave it out to send as yourself."""

    code = "sender_mismatch"


class UnknownTaskError(MailboxError):
    """No such task is known to this caller."""

    code = "unknown_task"

    @classmethod
    def of(cls, task_id: UUID, *, entry: Entry | None = None) -> Self:
        """Return the error for a task that does not exist or that the caller may not see. Both look the same."""
        return cls(f"no task {task_id} is known to you", entry=entry, task_id=task_id)


class UnknownAgentError(MailboxError):
    """No such agent is registered at this hub."""

    code = "unknown_agent"

    @classmethod
    def of(cls, name: str) -> Self:
        """Return the error for a name that fits no agent."""
        return cls(f'No agent named "{name[:SHOWN]}" is registered.', agent=name[:SHOWN])

    @classmethod
    def ambiguous(cls, name: str, displays: Sequence[str]) -> Self:
        """Return the error for a name that fits several agents; ``displays`` are those that the caller may know."""
        fitting = f": {', '.join(displays)}" if displays else ""
        return cls(f'"{name[:SHOWN]}" is ambiguous{fitting}.', agent=name[:SHOWN])


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
    """No such cached result."""

    code = "unknown_replay_entry"


class UnknownPlanError(MailboxError):
    """No such repair plan."""

    code = "unknown_plan"


class PlanClosedError(MailboxError):
    """This repair plan can no longer be applied. Make a new one."""

    code = "plan_closed"


class UnknownDeliveryError(MailboxError):
    """No such callback."""

    code = "unknown_delivery"


class AgentConflictError(MailboxError):
    """That name or public key is already registered."""

    code = "agent_conflict"


class KeyLimitError(MailboxError):
    """This owner already has two live keys; revoke one first."""

    code = "key_limit"


class KeyReplacedError(MailboxError):
    """This key was replaced before, and its successor is in use."""

    code = "key_replaced"


class TaskConflictError(MailboxError):
    """That task id is already taken; choose another."""

    code = "task_conflict"

    def __init__(self, message: str | None = None, *, is_forgotten: bool = False, task_id: object) -> None:
        """``is_forgotten``: an earlier version compacted that task, so whether the request repeats it is unknown."""
        super().__init__(message, task_id=task_id)
        self.is_forgotten = is_forgotten


class ResultConflictError(MailboxError):
    """The task already has a different result."""

    code = "result_conflict"


class LeaseMismatchError(MailboxError):
    """The lease in the request is not the task's live lease."""

    code = "lease_mismatch"


class NotInFlightError(MailboxError):
    """The task is not leased, or cannot be leased now."""

    code = "not_in_flight"


class AlreadyResolvedError(MailboxError):
    """The task is already resolved."""

    code = "already_resolved"


class NotAskableError(MailboxError):
    """The sender of this task takes no questions and sends no messages, or the task waits for another task's result."""

    code = "not_askable"


class TaskTooLargeError(MailboxError):
    """The messages and artifacts of this task are too large."""

    code = "task_too_large"


class DuplicateRiskMismatchError(MailboxError):
    """duplicate_risk "idempotent" needs a task that its sender declared idempotent; use "operator_accepted"."""

    code = "duplicate_risk_mismatch"


class RateLimitedError(MailboxError):
    """Too many requests; wait and try again."""

    code = "rate_limited"

    def __init__(self, message: str | None = None, *, retry_after: int, allowance: Allowance | None = None) -> None:
        """``retry_after`` is in whole seconds. ``allowance`` is the state of the limit, None if it is no rate."""
        self.retry_after = retry_after
        self.allowance = allowance
        super().__init__(message)


class QuotaExceededError(RateLimitedError):
    """The agent has too much in store at the hub; wait and try again."""

    code = "quota_exceeded"

    def __init__(
        self, message: str, *, allowance: Allowance, entry: Entry | None = None, is_too_large: bool = False
    ) -> None:
        """``is_too_large``: the request alone exceeds the quota, so that it fails however long it waits."""
        super().__init__(message, retry_after=allowance.reset, allowance=allowance)
        self.entry = entry
        self.is_too_large = is_too_large
        self.ids = {"quota": allowance.policy}


class WaitTimeoutError(MailboxError):
    """Nothing arrived before the timeout."""

    code = "timeout"


class SignatureFault(StrEnum):
    """Why the signature of a request is refused."""

    MALFORMED = "malformed"
    COMPONENTS = "components"  # it leaves out a part of the request, or covers a part that the request lacks
    EXPIRED = "expired"
    WRONG = "wrong"  # it is not the key's signature of this request
    UNKNOWN_KEY = "unknown key"
    UNPROVEN_KEY = "unproven key"
    DIGEST = "digest"
    REPLAYED = "replayed"


class BadSignatureError(UnauthenticatedError):
    """The signature of the request is refused."""

    code = "bad_signature"

    def __init__(self, fault: SignatureFault, reason: str) -> None:
        """``reason`` is a sentence."""
        super().__init__(f"The signature of the request is refused ({fault}). {reason}")
        self.fault = fault


def text_for_program(refusal: MailboxError) -> str:
    """Return the error's message, with the remedy for a program or for the command line."""
    lack = _lack(refusal)
    return refusal.message if lack is None else f"{refusal.message} {_for_program(lack)}"


def text_for_person(refusal: MailboxError) -> str:
    """Return the error's message, with the remedy for the person at the dashboard who was refused."""
    lack = _lack(refusal)
    if lack is None:
        return refusal.message
    return _for_people(refusal, lack, f"You are in {f'the group {lack.group}' if lack.group else 'no group'}")


def text_for_others(refusal: MailboxError, name: str) -> str:
    """Return the error's message, with the remedy, for people who read later that the person ``name`` was refused.

    A person without a role is in no group, is inactive, or no longer exists.
    """
    lack = _lack(refusal)
    if lack is None:
        return refusal.message
    has = f"was in the group {lack.group}" if lack.group else "had no role any more"
    return _for_people(refusal, lack, f"{name} {has}")


def _lack(refusal: MailboxError) -> Lack | None:
    return refusal.lack if isinstance(refusal, CapabilityMissingError) else None


def _for_people(refusal: MailboxError, lack: Lack, group: str) -> str:
    held = f"the capability is held by {' and '.join(lack.held_by) or 'agents alone'}"
    return f"{refusal.message} Its scope is {lack.scope_id}. {group}; {held}."


def _for_program(lack: Lack) -> str:
    match lack.remedy:
        case Remedy.GROUP:
            held = f"a person in the group {' or '.join(lack.held_by)}" if lack.held_by else "an agent"
            return f"Use the API key of {held}."
        case Remedy.TARGET:
            return f'"{lack.target}" names no agent, or several: register the agent, or use its full name (name@host).'
        case Remedy.GRANT:
            return f"Grant it with: a2a grant give {lack.agent} {lack.action}"
