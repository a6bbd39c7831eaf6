"""Errors of calls to remote agents. Source: corvid-agent, client error cases; A2A, errors."""

from mailbox.outbound.errors import ExternalServiceError

LONGEST_SHOWN = 1000  # characters of an answer's error


class SubmitRefusedError(ExternalServiceError):
    """A remote agent answered a submission with an HTTP error, so it did not take the task."""

    code = "submit_refused"

    def __init__(self, status: int, body: str) -> None:
        super().__init__("")
        self.message = self.public_message = f"Submit failed: HTTP {status} — {body}"


class PutOffError(ExternalServiceError):
    """A remote agent takes nothing now. The same submission can be repeated later, since it is done once at most."""

    code = "put_off"

    def __init__(self, reason: str, *, detail: str = "") -> None:
        """``reason`` says why, before the name of the agent's host; ``detail`` may hold a secret."""
        super().__init__(reason, detail=detail)
        self.reason = reason


class RemoteRefusalError(ExternalServiceError):
    """A remote agent answered with an error, so it did not do what the hub requested."""

    code = "remote_refusal"

    def __init__(self, text: str, *, status: int, reason: str = "") -> None:
        """``reason`` is the reason of the official protocol, such as TASK_NOT_FOUND; "" for other errors."""
        super().__init__("")
        self.message = self.public_message = f"The remote agent refused: {text[:LONGEST_SHOWN]}"
        self.status, self.reason = status, reason

    @property
    def is_busy(self) -> bool:
        """Whether the agent says that it may do it later."""
        return self.status in (429, 503)
