"""The errors of HTTP itself, and the HTTP status of each error."""

from collections.abc import Mapping
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


def codes_of(status: int, statuses: Mapping[type[MailboxError], HTTPStatus]) -> list[str]:
    """Return the codes that a view with this table answers with ``status``."""
    errors = {**statuses, **TRANSPORT_STATUS}
    return sorted({error.code for error, its in errors.items() if its == status})
