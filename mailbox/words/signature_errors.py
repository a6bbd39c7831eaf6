"""The errors of signed requests."""

from __future__ import annotations

from enum import StrEnum

from mailbox.words.errors import UnauthenticatedError


class SignatureFault(StrEnum):
    """Why the signature of a request is refused."""

    MALFORMED = "malformed"
    COMPONENTS = "components"  # it leaves out a part of the request, or covers a part that the request lacks
    EXPIRED = "expired"
    WRONG = "wrong"  # it is not the key's signature of this request
    UNKNOWN_KEY = "unknown key"
    UNPROVEN_KEY = "unproven key"
    DIGEST = "digest"
    REPLAYED = "replayed"


class BadSignatureError(UnauthenticatedError):
    """The signature of the request is refused."""

    code = "bad_signature"

    def __init__(self, fault: SignatureFault, reason: str) -> None:
        """``reason`` is a sentence."""
        super().__init__(f"The signature of the request is refused ({fault}). {reason}")
        self.fault = fault
