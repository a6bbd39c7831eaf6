"""What can go wrong between this hub and an agent elsewhere. Source: corvid-agent, client error cases."""

from __future__ import annotations

from mailbox.outbound.errors import ExternalServiceError


class SubmitRefusedError(ExternalServiceError):
    """A remote agent answered a submission with something else than success: it did not take the task."""

    code = "submit_refused"

    def __init__(self, status: int, body: str) -> None:
        super().__init__("")
        self.message = self.told = f"Submit failed: HTTP {status} — {body}"
