"""Errors of outbound calls: the hub refused to call, or the call failed."""

from mailbox.words.errors import MailboxError


class ValidationError(MailboxError):
    """A value given to the hub, or an answer of a remote agent, is invalid."""

    code = "validation_error"


class BlockedUrlError(ValidationError):
    """The hub may not call this URL. Addresses that are not public must be listed in A2A_OUTBOUND_ALLOW."""

    code = "blocked_url"


class ExternalServiceError(MailboxError):
    """A remote agent did not answer, or its answer is unusable."""

    code = "external_service_error"

    def __init__(self, message: str, *, detail: str = "") -> None:
        """``message`` says what failed; "A2A: " goes before it, as corvid-agent writes.

        ``detail`` may hold a secret: a URL, or the text of a library's error, which may repeat the request.
        Show ``message`` with its detail only to the person who entered the URL, and ``public_message`` to others.
        """
        self.public_message = f"A2A: {message}"
        super().__init__(f"{self.public_message}: {detail}" if detail else self.public_message)


class NoAnswerError(ExternalServiceError):
    """A server could not be reached, did not answer in time, or did not answer in HTTP.

    ``timed_out`` tells that all the time of the exchange has passed.
    """

    code = "no_answer"

    def __init__(self, message: str, *, detail: str = "", timed_out: bool = False) -> None:
        super().__init__(message, detail=detail)
        self.timed_out = timed_out


class NotReachedError(NoAnswerError):
    """No connection was made, so the server has received nothing of the request."""

    code = "not_reached"


class AnswerTooLargeError(ExternalServiceError):
    """A server's answer is larger than the hub reads. ``status`` is its HTTP status."""

    code = "answer_too_large"

    def __init__(self, url: str, *, status: int, limit: int) -> None:
        super().__init__(f"the answer is larger than {limit // 1024**2} MiB", detail=url)
        self.is_success = 200 <= status < 300
        self.status = status
