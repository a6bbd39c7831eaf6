"""Why a call to the outside failed, or was refused before it began."""

from __future__ import annotations

from mailbox.words.errors import MailboxError


class ValidationError(MailboxError):
    """What was given, or what the remote agent gave, is not what it has to be."""

    code = "validation_error"


class BlockedUrlError(ValidationError):
    """The hub does not call this URL. Addresses that are not public need A2A_OUTBOUND_ALLOW."""

    code = "blocked_url"


class ExternalServiceError(MailboxError):
    """A remote agent did not answer, or not as it should."""

    code = "external_service_error"

    def __init__(self, message: str, *, detail: str = "") -> None:
        """``message`` says what failed; the error names the service before it, as the seed does.

        ``detail`` is what may hold a secret: a URL, or a library's words, which may repeat all that was sent.
        Only whoever entered it may read that; all others are told ``told``.
        """
        self.told = f"A2A: {message}"
        super().__init__(f"{self.told}: {detail}" if detail else self.told)


class NoAnswerError(ExternalServiceError):
    """A server could not be reached, hung, or spoke no HTTP."""

    code = "no_answer"


class AnswerTooLargeError(ExternalServiceError):
    """A server answered, with the status ``status``, more than the hub reads."""

    code = "answer_too_large"

    def __init__(self, url: str, *, status: int, limit: int) -> None:
        super().__init__(f"the answer is larger than {limit // 1024**2} MiB", detail=url)
        self.is_success = 200 <= status < 300
        self.status = status
