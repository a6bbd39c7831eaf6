"""The errors of requests to a hub. `refusals` has one class for each reason of a refusal."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, ClassVar


class HubError(Exception):
    """A request to the hub failed.

    ``code`` is the hub's word for the reason, "" without one. ``status`` is the HTTP status, None without an answer.
    ``fields`` maps the path of each invalid field to its problem. ``ids`` has the identifiers that the error concerns.
    """

    code: str = ""
    status: int | None = None
    usual_status: ClassVar[int | None] = None

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        status: int | None = None,
        fields: Mapping[str, str] | None = None,
        ids: Mapping[str, str | None] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = type(self).code if code is None else code
        self.status = type(self).usual_status if status is None else status
        self.fields = dict(fields or {})
        self.ids = dict(ids or {})


class NotNowError(HubError):
    """The hub did not answer, or its answer may change when the request is repeated.

    ``may_have_arrived`` False: the hub did nothing. ``retry_after`` is the hub's Retry-After, in seconds.
    """

    def __init__(
        self, message: str, *, may_have_arrived: bool = True, retry_after: float | None = None, **details: Any
    ) -> None:
        super().__init__(message, **details)
        self.may_have_arrived = may_have_arrived
        self.retry_after = retry_after


class UnreachableError(NotNowError):
    """No answer came from the hub. ``may_have_arrived`` False: the request was not sent."""


class AnswerError(NotNowError):
    """The answer is not a hub's: the URL is that of another server, or a proxy answered in the hub's place."""


class UnavailableError(NotNowError):
    """The hub cannot take changes now, for example without its database."""

    code, usual_status = "unavailable", HTTPStatus.SERVICE_UNAVAILABLE


class RateLimitedError(NotNowError):
    """Too many requests came from this caller."""

    code, usual_status = "rate_limited", HTTPStatus.TOO_MANY_REQUESTS


class QuotaExceededError(RateLimitedError):
    """The agent has too much in store at the hub."""

    code = "quota_exceeded"


class RefusedError(HubError):
    """The hub refused the request, and would refuse it again."""


class AttemptSpentError(HubError):
    """The attempt id of the receive took something before, and that has ended. It takes nothing else."""


class ResultTimeoutError(HubError, TimeoutError):
    """The task has no result yet."""
