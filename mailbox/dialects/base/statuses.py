"""The HTTP status of each error. A dialect may have a table of its own."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

from mailbox.words import errors
from mailbox.words.errors import MailboxError

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
