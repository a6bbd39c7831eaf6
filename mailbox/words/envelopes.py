"""Tasks and results as they come in, before they are rows: plain, frozen values, and their checks.

HTTP readers build envelopes from checked JSON. Code in this process may build one from any values, so `check` compares
the types of the fields too.
"""

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Self
from uuid import UUID

import base58

from mailbox.words import content, json_text
from mailbox.words.conversation import Details
from mailbox.words.errors import InvalidRequestError
from mailbox.words.push import PushTarget, problem_of_url
from mailbox.words.shapes import shape_problems
from mailbox.words.times import LONGEST

DISPLAY = re.compile(r"[A-Za-z0-9_.-]+@[A-Za-z0-9_.-]+", re.ASCII)
LOCAL_PART = re.compile(r"[A-Za-z0-9_.-]+", re.ASCII)
DISPLAY_MAX_LENGTH = 200
KEY_MAX_LENGTH = 500
DIALECT_MAX_LENGTH = 20
A2A = "a2a"  # the dialect of tasks that come by the official protocol
WEBHOOK_KEY = "whsec_"  # prefix of a secret whose key is the base64 text after it. Source: Standard Webhooks
_NO_KEY = f"callback_secret must be valid base64 after {WEBHOOK_KEY}"
MAX_DEADLINE_MS = 2**63 - 1


class DuplicateSafety(StrEnum):
    """The sender's statement whether doing the work twice is safe. Source: Covenant idempotency policy."""

    UNSAFE = "unsafe"
    IDEMPOTENT = "idempotent"


class ResultStatus(StrEnum):
    """The outcome of the work, as its holder posts it. ``partial`` is final too. Source: Covenant A2A, wire types."""

    OK = "ok"
    ERROR = "error"
    PARTIAL = "partial"
    REJECTED = "rejected"  # the holder will not do the work; an error in dialects without the word


class TaskSource(StrEnum):
    """The sender of a task: an agent, or a person at the dashboard. Source: corvid-agent, session source."""

    AGENT = "agent"
    USER = "user"


@dataclass(frozen=True, slots=True)
class AgentRef:
    """An agent as a caller names it: by display, by local part, or by public key.

    If a display and a public key are given, only the public key counts.
    """

    display: str | None = None
    pubkey: str | None = None

    @classmethod
    def parse(cls, value: object, path: str = "agent") -> Self:
        """Read ``"research@local"``, ``"research"``, a public key or ``{"display", "pubkey"}``.

        Text that is a public key is never a local part. Raises `InvalidRequestError`.
        """
        if isinstance(value, str) and is_pubkey(value):
            return cls(pubkey=value)
        display, pubkey = value, None
        if isinstance(value, Mapping):
            display, pubkey = value.get("display"), value.get("pubkey")
        if not isinstance(display, str) or (isinstance(value, Mapping) and not isinstance(pubkey, str)):
            raise InvalidRequestError({path: "expected an agent name or {display, pubkey}"})
        if not (DISPLAY.fullmatch(display) or (pubkey is None and LOCAL_PART.fullmatch(display))):
            raise InvalidRequestError({path: f'invalid AgentId.display: "{display[:200]}"'})
        if len(display) > DISPLAY_MAX_LENGTH:
            raise InvalidRequestError({path: f"display is longer than {DISPLAY_MAX_LENGTH} characters"})
        if pubkey is not None:
            check_pubkey(pubkey, path)
        return cls(display, pubkey)

    def __str__(self) -> str:
        return self.display or self.pubkey or ""


def check_pubkey(pubkey: str, path: str) -> None:
    """Raise `InvalidRequestError` unless ``pubkey`` is base58 of exactly 32 bytes."""
    try:
        decoded = base58.b58decode(pubkey) if len(pubkey) <= 64 else b""
    except ValueError as error:
        raise InvalidRequestError({path: "pubkey is not base58"}) from error
    if len(decoded) != 32:
        raise InvalidRequestError({path: f"pubkey must decode to 32 bytes, got {len(decoded)}"})
    if base58.b58encode(decoded).decode() != pubkey:  # the decoder ignores spaces at the end
        raise InvalidRequestError({path: "pubkey is not base58"})


def is_pubkey(text: str) -> bool:
    if "@" in text:
        return False
    try:
        check_pubkey(text, "pubkey")
    except InvalidRequestError:
        return False
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Idempotency:
    """Duplicate safety and the stable key of the logical work unit, which both safeties require."""

    duplicate_safety: DuplicateSafety
    key: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEnvelope:
    """A task to send. Source: Covenant A2A, wire types; other dialects need the fields after ``idempotency``.

    ``id`` None: the hub chooses the id, and a repeated request makes a new task. ``sender`` None: the caller.
    ``deadline_ms`` is a time in Unix epoch milliseconds. ``work_timeout`` counts from the start of the lease.
    ``converses``: its sender takes questions, and can say more. ``reads_result``: its sender reads the result by the
    task's id, so that no drain delivers it. ``push``: a webhook of a task of the dialect `A2A`, set before its first
    event. ``copy_of``: the task of which a person sends this copy.
    """

    recipient: AgentRef
    intent_text: str
    id: UUID | None = None
    sender: AgentRef | None = None
    task_kind: str | None = None
    parent: UUID | None = None
    deadline_ms: int | None = None
    idempotency: Idempotency | None = None
    context_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    work_timeout: timedelta | None = None
    source: TaskSource = TaskSource.AGENT
    callback_url: str | None = None
    callback_secret: str | None = field(default=None, repr=False)
    dialect: str = "mailbox"
    converses: bool = True
    reads_result: bool = False
    push: PushTarget | None = None
    copy_of: UUID | None = None

    @property
    def size(self) -> int:
        """The bytes of its payload: the intent text, and the metadata as JSON."""
        return len(self.intent_text.encode()) + len(json_text.dumps(dict(self.metadata)).encode())

    def check(self) -> None:
        """Raise `InvalidRequestError` for fields of wrong types, else for invalid values. It lists all such fields."""
        _refuse(dict(shape_problems(self)))
        problems: dict[str, str | None] = {
            "intent_text": _blank(self.intent_text, "intent_text must not be empty"),
            "task_kind": _blank(self.task_kind, "task_kind must not be empty when present"),
            "context_id": _blank(self.context_id, "context_id must not be empty when present"),
            "dialect": _blank(self.dialect, "dialect must not be empty"),
        }
        problems["metadata"] = json_text.problem_in(dict(self.metadata))
        if self.deadline_ms is not None and not _is_within(self.deadline_ms, MAX_DEADLINE_MS):
            problems["deadline_ms"] = "deadline_ms must be a whole number of epoch milliseconds between 0 and 2^63-1"
        if self.idempotency is not None:
            problems["idempotency.key"] = _blank(
                self.idempotency.key, "idempotency key must not be empty"
            ) or _too_long(self.idempotency.key, KEY_MAX_LENGTH)
        if self.callback_url is not None:
            problems["callback_url"] = problem_of_url(self.callback_url, "callback_url")
        if self.callback_secret is not None:
            problems["callback_secret"] = _no_secret(self.callback_secret, self.callback_url)
        if self.push is not None:
            problems |= dict(self.push.problems("push."))
            problems["push"] = None if self.dialect == A2A else f"only a task of the dialect {A2A} has webhooks"
        if self.work_timeout is not None and not timedelta(0) < self.work_timeout <= LONGEST:
            problems["work_timeout"] = f"work_timeout must be more than 0 and at most {LONGEST.days} days"
        for path, text, limit in (
            ("task_kind", self.task_kind, KEY_MAX_LENGTH),
            ("context_id", self.context_id, KEY_MAX_LENGTH),
            ("dialect", self.dialect, DIALECT_MAX_LENGTH),
        ):
            problems[path] = problems[path] or _too_long(text or "", limit)
        _refuse(problems)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultEnvelope:
    """A result to post. Source: Covenant A2A, wire types.

    A ``lease_id`` must be the task's live lease, so that a holder whose lease has ended cannot post. None: not checked.
    ``message`` holds closing words beside the content, as blocks. ``direct``: the content is the answer itself, one
    message and no task. It then has the status ok, content, and no closing words. ``details`` belong to the message
    that ends the task: the closing words, the direct answer or the error message. A repeat need not repeat them.
    """

    task_id: UUID
    status: ResultStatus
    content: Sequence[Mapping[str, Any]] = ()
    error_message: str | None = None
    lease_id: UUID | None = None
    message: Sequence[Mapping[str, Any]] = ()
    direct: bool = False
    details: Details | None = None

    def check(self) -> None:
        """Raise `InvalidRequestError` for fields of wrong types, else for invalid values. It lists all such fields."""
        _refuse(dict(shape_problems(self)))
        problems: dict[str, str | None] = dict(content.problems(self.content))
        problems |= {f"message.{path}": problem for path, problem in content.problems(self.message)}
        problems |= dict(self.details.problems_of_details("details.")) if self.details else {}
        problems["error_message"] = json_text.problem_with(self.error_message or "")
        if self.status == ResultStatus.REJECTED and not (self.error_message or "").strip():
            problems["error_message"] = "error_message must give the reason of a rejection"
        if self.direct and (self.status != ResultStatus.OK or not self.content or self.message):
            problems["direct"] = "a direct answer has the status ok, content, and no message"
        _refuse(problems)

    @property
    def is_plain(self) -> bool:
        """Whether the result is no more than a status, content and an error message."""
        return self.status != ResultStatus.REJECTED and not (self.message or self.direct or self.details)

    def compared_values(self) -> Sequence[object]:
        """Return what a repeated result must repeat, as JSON values."""
        values = [self.status, self.error_message, [dict(block) for block in self.content]]
        return (
            [*values, [dict(block) for block in self.message], self.direct] if self.message or self.direct else values
        )


def check_reason(reason: str, *, path: str = "reason", limit: int = 500) -> str:
    """Return the trimmed reason. Raises `InvalidRequestError` if it is not text, blank, or longer than ``limit``."""
    if not isinstance(reason, str):
        raise InvalidRequestError({path: "must be text"})
    problem = _blank(reason, f"{path} must not be empty") or _too_long(reason.strip(), limit)
    _refuse({path: problem})
    return reason.strip()


def check_to_come(moment: datetime | None, now: datetime, *, path: str) -> None:
    """Raise `InvalidRequestError` unless the time is in the future or None."""
    if moment is not None and moment <= now:
        problem = "must be in the future; as a number it is Unix epoch milliseconds, not seconds"
        raise InvalidRequestError({path: problem})


def _blank(text: str | None, problem: str) -> str | None:
    if text is None:
        return None
    return json_text.problem_with(text) or (None if text.strip() else problem)


def _too_long(text: str, limit: int) -> str | None:
    return f"longer than {limit} characters" if len(text) > limit else None


def _is_within(number: object, most: int) -> bool:
    return type(number) is int and 0 <= number <= most


def _no_secret(text: str, url: str | None) -> str | None:
    if url is None:
        return "callback_secret needs a callback_url"
    if problem := _blank(text, "callback_secret must not be empty when present") or _too_long(text, KEY_MAX_LENGTH):
        return problem
    if not text.startswith(WEBHOOK_KEY):
        return None
    try:
        return None if base64.b64decode(text.removeprefix(WEBHOOK_KEY), validate=True) else _NO_KEY
    except ValueError:
        return _NO_KEY


def _refuse(problems: Mapping[str, str | None]) -> None:
    refused = {path: problem for path, problem in problems.items() if problem}
    if refused:
        raise InvalidRequestError(refused)
