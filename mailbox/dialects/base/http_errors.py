"""The errors of HTTP itself, the HTTP status of each error, and the codes with their meaning and advice."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus

from mailbox.words import errors
from mailbox.words.errors import BadSignatureError, MailboxError

# In a request's environ while its body is read: returns the answer to send if the body does not arrive in time.
STALLED_ANSWER = "a2a.stalled_answer"


class BodyTooLargeError(MailboxError):
    """The body is larger than this hub accepts."""

    code = "body_too_large"


class LengthRequiredError(MailboxError):
    """Send the body with a Content-Length; chunked bodies are not accepted."""

    code = "length_required"


class UnsupportedMediaTypeError(MailboxError):
    """Send the body as application/json, without Content-Encoding."""

    code = "unsupported_media_type"


class MethodNotAllowedError(MailboxError):
    """This route does not answer that method."""

    code = "method_not_allowed"


class PathNotFoundError(MailboxError):
    """There is no such route. /api/docs/ lists them."""

    code = "not_found"


class UnavailableError(MailboxError):
    """The database cannot be reached."""

    code = "unavailable"

    def __init__(self, reason: str | None = None) -> None:
        """``reason`` is a sentence."""
        super().__init__(f"{reason or self.__doc__} It is unknown whether a change was made, so repeat the request.")


class StalledBodyError(MailboxError):
    """The body of the request did not arrive in time. Nothing was changed, so repeat the request."""

    code = "unavailable"


TRANSPORT_STATUS: Mapping[type[MailboxError], HTTPStatus] = {
    BodyTooLargeError: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    BadSignatureError: HTTPStatus.UNAUTHORIZED,
    LengthRequiredError: HTTPStatus.LENGTH_REQUIRED,
    UnsupportedMediaTypeError: HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
    MethodNotAllowedError: HTTPStatus.METHOD_NOT_ALLOWED,
    PathNotFoundError: HTTPStatus.NOT_FOUND,
    UnavailableError: HTTPStatus.SERVICE_UNAVAILABLE,
    StalledBodyError: HTTPStatus.SERVICE_UNAVAILABLE,
}

STATUS: Mapping[type[MailboxError], HTTPStatus] = {
    errors.InvalidJsonError: HTTPStatus.BAD_REQUEST,
    errors.InvalidRequestError: HTTPStatus.BAD_REQUEST,
    errors.UnauthenticatedError: HTTPStatus.UNAUTHORIZED,
    errors.CapabilityMissingError: HTTPStatus.FORBIDDEN,
    errors.CapabilityScopeMismatchError: HTTPStatus.FORBIDDEN,
    errors.SenderMismatchError: HTTPStatus.FORBIDDEN,
    errors.WrongPartyError: HTTPStatus.FORBIDDEN,
    errors.UnknownTaskError: HTTPStatus.NOT_FOUND,
    errors.UnknownAgentError: HTTPStatus.NOT_FOUND,
    errors.NotSealedError: HTTPStatus.NOT_FOUND,
    errors.UnknownGrantError: HTTPStatus.NOT_FOUND,
    errors.UnknownKeyError: HTTPStatus.NOT_FOUND,
    errors.UnknownRouteError: HTTPStatus.NOT_FOUND,
    errors.UnknownReplayEntryError: HTTPStatus.NOT_FOUND,
    errors.UnknownDeliveryError: HTTPStatus.NOT_FOUND,
    errors.UnknownPlanError: HTTPStatus.NOT_FOUND,
    errors.PlanClosedError: HTTPStatus.CONFLICT,
    errors.AgentConflictError: HTTPStatus.CONFLICT,
    errors.KeyLimitError: HTTPStatus.CONFLICT,
    errors.KeyReplacedError: HTTPStatus.CONFLICT,
    errors.TaskConflictError: HTTPStatus.CONFLICT,
    errors.ResultConflictError: HTTPStatus.CONFLICT,
    errors.LeaseMismatchError: HTTPStatus.CONFLICT,
    errors.NotInFlightError: HTTPStatus.CONFLICT,
    errors.AlreadyResolvedError: HTTPStatus.CONFLICT,
    errors.NotAskableError: HTTPStatus.CONFLICT,
    errors.TaskTooLargeError: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    errors.RateLimitedError: HTTPStatus.TOO_MANY_REQUESTS,
    errors.QuotaExceededError: HTTPStatus.TOO_MANY_REQUESTS,
    errors.DuplicateRiskMismatchError: HTTPStatus.CONFLICT,
}

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


def error_codes(statuses: Mapping[type[MailboxError], HTTPStatus] = STATUS) -> list[ErrorCode]:
    """Return the codes of the errors of ``statuses`` and of HTTP, by status and then by name, each code once."""
    rows: dict[str, ErrorCode] = {}
    for error, status in {**statuses, **TRANSPORT_STATUS}.items():
        meaning = " ".join((error.__doc__ or "").split())
        row = ErrorCode(code=error.code, status=status, meaning=meaning, advice=ADVICE[error.code])
        rows.setdefault(error.code, row)
    return sorted(rows.values(), key=lambda row: (row.status, row.code))


def codes_of(status: int, statuses: Mapping[type[MailboxError], HTTPStatus]) -> list[str]:
    """Return the codes that a view with this table answers with ``status``."""
    errors = {**statuses, **TRANSPORT_STATUS}
    return sorted({error.code for error, its in errors.items() if its == status})


def table_of_codes(rows: Sequence[ErrorCode]) -> str:
    """Return the codes as a table in Markdown."""
    lines = [f"| `{row.code}` | {row.status.value} | {row.meaning} | {row.advice} |\n" for row in rows]
    return "".join(["| Code | Status | Meaning | Advice |\n|---|---|---|---|\n", *lines])
