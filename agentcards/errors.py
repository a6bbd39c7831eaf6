"""Errors of calls to remote agents. Source: corvid-agent, client error cases."""

from __future__ import annotations

from mailbox.outbound.errors import ExternalServiceError


class SubmitRefusedError(ExternalServiceError):
    """A remote agent answered a submission with an HTTP error, so it did not take the task."""

    code = "submit_refused"

    def __init__(self, status: int, body: str) -> None:
        super().__init__("")
        self.message = self.public_message = f"Submit failed: HTTP {status} — {body}"
