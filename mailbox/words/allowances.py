"""The requests that a limit still grants, as the headers RateLimit and RateLimit-Policy report them.

Source: draft-ietf-httpapi-ratelimit-headers.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """The state of one limit after a request.

    ``policy`` is the limit's name. A caller gets ``quota`` requests in ``window`` seconds, and has ``remaining`` of
    them now. ``reset`` is the number of whole seconds until it may have more. ``window`` None: a quota of things that
    the hub keeps for the caller.
    """

    policy: str
    quota: int
    window: int | None
    remaining: int
    reset: int

    def headers(self) -> dict[str, str]:
        """Return both headers by name."""
        window = "" if self.window is None else f";w={self.window}"
        return {
            "RateLimit-Policy": f'"{self.policy}";q={self.quota}{window}',
            "RateLimit": f'"{self.policy}";r={self.remaining};t={self.reset}',
        }
