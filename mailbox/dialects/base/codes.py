"""The codes of errors: the status of each, what it means, and what a client does about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus

from mailbox.dialects.base.statuses import STATUS
from mailbox.dialects.base.transport import TRANSPORT_STATUS
from mailbox.words.errors import MailboxError

_AGAIN = "Wait for the seconds of `Retry-After`, and repeat the request."
_READ_TASK = "Read the task; its state tells what is possible."
ADVICE: Mapping[str, str] = {
    "agent_conflict": "Choose another name, or another key.",
    "already_resolved": "Stop the work on the task. Its result stays as it is.",
    "bad_signature": "Sign the request anew, with a new nonce. The message names the fault.",
    "body_too_large": "Send less at once, such as a smaller batch.",
    "capability_missing": "Ask an operator for the grant that the message names.",
    "capability_scope_mismatch": "Ask an operator for a grant whose scope fits the request.",
    "card_taken": "Choose another job id or name, or let the other job remove its card.",
    "duplicate_risk_mismatch": "Send `operator_accepted` if doing the work twice is acceptable.",
    "invalid_json": "Send valid JSON in UTF-8, without duplicate keys.",
    "invalid_request": "Correct the fields that `fields` names.",
    "key_limit": "Revoke a key of this owner first.",
    "key_replaced": "Use the successor of the key.",
    "lease_mismatch": "Stop the work: another lease holds the task, or none.",
    "length_required": "Send a `Content-Length`.",
    "method_not_allowed": "Use a method that the header `Allow` names.",
    "not_an_agent": "Use the key of an agent.",
    "not_askable": "Post a result instead of a question. A waiting task gets the other task's result.",
    "not_found": "Check the path.",
    "not_in_flight": _READ_TASK,
    "not_sealed": "Wait until the row is sealed, or check its number.",
    "not_your_inbox": "Use the key of the agent of the inbox.",
    "plan_closed": "Make a new plan.",
    "quota_exceeded": _AGAIN,
    "rate_limited": _AGAIN,
    "result_conflict": "Keep the result that is stored: a task has one.",
    "sender_mismatch": "Leave `sender` out.",
    "task_conflict": "Choose a new id. The id names another task.",
    "task_too_large": "Post smaller artifacts or fewer messages.",
    "unauthenticated": "Send a valid API key.",
    "unavailable": "Repeat the request with the same ids: it acts once.",
    "unknown_agent": "Register the agent, or use its full name.",
    "unknown_card": "Check the id of the job.",
    "unknown_delivery": "Check the id of the callback.",
    "unknown_grant": "Check the id of the grant.",
    "unknown_key": "Check the public id of the key.",
    "unknown_plan": "Make a new plan.",
    "unknown_replay_entry": "Nothing: the cached result is gone.",
    "unknown_route": "Check the public id of the route.",
    "unknown_task": "Check the id, and whether the key belongs to a party of the task.",
    "unsupported_media_type": "Send `Content-Type: application/json`, and no `Content-Encoding`.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorCode:
    """One code. ``meaning`` is the default message of the error, and ``advice`` what a client does about it."""

    code: str
    status: HTTPStatus
    meaning: str
    advice: str


def of_errors(statuses: Mapping[type[MailboxError], HTTPStatus] = STATUS) -> list[ErrorCode]:
    """Return the codes of the errors of ``statuses`` and of HTTP, by status and then by name, each code once."""
    found: dict[str, ErrorCode] = {}
    for error, status in {**statuses, **TRANSPORT_STATUS}.items():
        meaning = " ".join((error.__doc__ or "").split())
        row = ErrorCode(code=error.code, status=status, meaning=meaning, advice=ADVICE[error.code])
        found.setdefault(error.code, row)
    return sorted(found.values(), key=lambda row: (row.status, row.code))


def names_of(status: int, statuses: Mapping[type[MailboxError], HTTPStatus]) -> list[str]:
    """Return the codes that a view with this table answers with ``status``."""
    errors = {**statuses, **TRANSPORT_STATUS}
    return sorted({error.code for error, its in errors.items() if its == status})


def table(rows: Sequence[ErrorCode]) -> str:
    """Return the codes as a table in Markdown."""
    lines = [f"| `{row.code}` | {row.status.value} | {row.meaning} | {row.advice} |\n" for row in rows]
    return "".join(["| Code | Status | Meaning | Advice |\n|---|---|---|---|\n", *lines])
