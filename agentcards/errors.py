"""What can go wrong between this hub and an agent elsewhere. Source: corvid-agent, client error cases."""

from __future__ import annotations

from mailbox.errors import MailboxError


class ValidationError(MailboxError):
    """What was given, or what the remote agent gave, is not what it has to be."""

    code = "validation_error"


class BlockedUrlError(ValidationError):
    """The hub does not call this URL. Addresses that are not public need A2A_OUTBOUND_ALLOW."""

    code = "blocked_url"


class ExternalServiceError(MailboxError):
    """A remote agent did not answer, or not as it should."""

    code = "external_service_error"

    def __init__(self, message: str) -> None:
        """``message`` says what failed; the error names the service before it, as the seed does."""
        super().__init__(f"A2A: {message}")


class SubmitRefusedError(ExternalServiceError):
    """A remote agent answered a submission with something else than success: it did not take the task."""

    code = "submit_refused"

    def __init__(self, status: int, body: str) -> None:
        super().__init__("")
        self.message = f"Submit failed: HTTP {status} — {body}"
