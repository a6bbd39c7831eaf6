"""The targets of webhooks as they come in, before they are rows, and the URLs that a sender may name."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from urllib.parse import urlsplit

from mailbox.words import json_text, shapes
from mailbox.words.errors import InvalidRequestError

URL_MAX_LENGTH = 2000
CONFIG_ID_MAX_LENGTH = 200
SECRET_MAX_LENGTH = 8000
_NO_URL = re.compile(r"[\x00-\x20\x7f]")
_SCHEME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_IN_A_HEADER = re.compile(r"[!-~]([ -~]*[!-~])?")


class PushProtocol(StrEnum):
    """The versions of the official A2A protocol in which the hub tells events."""

    V1_0 = "1.0"
    V0_3 = "0.3"


@dataclass(frozen=True, slots=True, kw_only=True)
class PushTarget:
    """A receiver of the events of one task. Source: A2A, TaskPushNotificationConfig.

    ``config_id`` None: the hub chooses it. ``token`` goes into each request as ``X-A2A-Notification-Token``. Each
    request has the header ``Authorization: <auth_scheme> <auth_credentials>`` if both are given. ``protocol`` is the
    version of the official A2A protocol that the receiver speaks.
    """

    url: str
    config_id: str | None = None
    token: str | None = field(default=None, repr=False)
    auth_scheme: str | None = None
    auth_credentials: str | None = field(default=None, repr=False)
    protocol: PushProtocol = PushProtocol.V1_0

    def check(self) -> None:
        """Raise `InvalidRequestError` for fields of wrong types, else for invalid values. It lists all such fields."""
        if problems := dict(self.problems()):
            raise InvalidRequestError(problems)

    def problems(self, prefix: str = "") -> Iterator[tuple[str, str]]:
        """Yield (path, problem) for each problem; ``prefix`` begins each path."""
        wrong = dict(shapes.shape_problems(self))
        if not wrong:
            wrong = dict(self._problems())
        yield from ((f"{prefix}{path}", problem) for path, problem in wrong.items())

    def _problems(self) -> Iterator[tuple[str, str]]:
        if problem := problem_of_url(self.url, "url"):
            yield "url", problem
        if self.config_id is not None and (problem := _problem_of_id(self.config_id)):
            yield "config_id", problem
        if self.auth_scheme is not None and not _SCHEME.fullmatch(self.auth_scheme):
            yield "auth_scheme", "must be the name of a scheme of HTTP authentication, such as Bearer"
        if self.auth_credentials is not None and self.auth_scheme is None:
            yield "auth_credentials", "needs a scheme"
        for path, secret in (("token", self.token), ("auth_credentials", self.auth_credentials)):
            if secret is not None and (problem := _problem_in_header(secret)):
                yield path, problem


def problem_of_url(text: str, name: str) -> str | None:
    """Return why the hub cannot call this URL, None for no reason. ``name`` is that of its field."""
    unusable = f"{name} must be an http or https URL"
    try:
        parts = urlsplit(text)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0 or _NO_URL.search(text):
            return unusable
    except ValueError:
        return unusable
    if parts.username is not None or parts.password is not None:
        return f"{name} must not carry credentials"
    too_long = f"longer than {URL_MAX_LENGTH} characters" if len(text) > URL_MAX_LENGTH else None
    return json_text.problem_with(text) or too_long


def _problem_of_id(text: str) -> str | None:
    if problem := json_text.problem_with(text):
        return problem
    if not text.strip():
        return "must not be empty when present"
    return f"longer than {CONFIG_ID_MAX_LENGTH} characters" if len(text) > CONFIG_ID_MAX_LENGTH else None


def _problem_in_header(secret: str) -> str | None:
    if len(secret) > SECRET_MAX_LENGTH:
        return f"longer than {SECRET_MAX_LENGTH} characters"
    return None if _IN_A_HEADER.fullmatch(secret) else "must be ASCII text that fits in a header"
