"""Settings of the alerts: where the hub reports decisions that wait too long for a person."""

from __future__ import annotations

import re
from datetime import timedelta
from urllib.parse import urlsplit

from a2aproject.errors import UnusableSettingError
from a2aproject.settings.environment import CENTURY_MS, env

_SCHEMES = ("smtp", "smtp+tls", "smtp+ssl")
_ADDRESS = re.compile(r"[^@\s,<>]+@[^@\s,<>]+")

# The webhook, and the form of its body: the hub's own JSON, or the text that Slack and its likes take.
A2A_ALERT_URL = env.address("A2A_ALERT_URL")
A2A_ALERT_FORMAT = env.word("A2A_ALERT_FORMAT", "json", "JSON", "SLACK").lower()
# The people who get mail, and its sender.
A2A_ALERT_MAIL: list[str] = env.list("A2A_ALERT_MAIL", default=[])
A2A_ALERT_MAIL_FROM: str = env.str("A2A_ALERT_MAIL_FROM", "a2a-hub@localhost")
# How long a decision waits before it is reported, and after how long it is reported again (0: never).
A2A_ALERT_AFTER = timedelta(milliseconds=env.integer("A2A_ALERT_AFTER_MS", 600_000, least=0, most=CENTURY_MS))
A2A_ALERT_REPEAT = timedelta(milliseconds=env.integer("A2A_ALERT_REPEAT_MS", 86_400_000, least=0, most=CENTURY_MS))

# The server that takes the mail, such as smtp+tls://user:password@mail.example.org:587.
_server = env.str("EMAIL_URL", "")
if _server:
    if urlsplit(_server).scheme not in _SCHEMES or not urlsplit(_server).hostname:
        raise UnusableSettingError(f"EMAIL_URL must be a URL with one of {', '.join(_SCHEMES)} and a host.")
    _mail = env.email_url_config(_server)
    EMAIL_HOST, EMAIL_PORT = _mail["EMAIL_HOST"], _mail["EMAIL_PORT"] or 25
    EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = _mail["EMAIL_HOST_USER"] or "", _mail["EMAIL_HOST_PASSWORD"] or ""
    EMAIL_USE_TLS, EMAIL_USE_SSL = _mail.get("EMAIL_USE_TLS", False), _mail.get("EMAIL_USE_SSL", False)
EMAIL_TIMEOUT = 10  # seconds

if A2A_ALERT_MAIL and not _server:
    raise UnusableSettingError("A2A_ALERT_MAIL needs EMAIL_URL, the server that takes the mail.")
if _wrong := [address for address in [*A2A_ALERT_MAIL, A2A_ALERT_MAIL_FROM] if not _ADDRESS.fullmatch(address)]:
    raise UnusableSettingError(f"A2A_ALERT_MAIL and A2A_ALERT_MAIL_FROM must be mail addresses; {_wrong[0]!r} is none.")
