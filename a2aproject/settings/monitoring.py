"""Settings of the people who watch the hub: metrics, the log, traces, alerts, and the thresholds of the dashboard.

Alerts report decisions that wait too long for a person. The thresholds decide what "Needs a decision" and the health
checks report.
"""

import re
from urllib.parse import urlsplit

from a2aproject.errors import UnusableSettingError
from a2aproject.settings.environment import env, require

LEAST_TOKEN = 16  # characters

# The clients that may read /metrics: those with the token, and those of the networks. By default there are none.
A2A_METRICS_TOKEN: str = env.str("A2A_METRICS_TOKEN", "")
if A2A_METRICS_TOKEN and len(A2A_METRICS_TOKEN) < LEAST_TOKEN:
    raise UnusableSettingError(f"A2A_METRICS_TOKEN must have at least {LEAST_TOKEN} characters.")
A2A_METRICS_ALLOW = env.networks("A2A_METRICS_ALLOW", [])
# The form of the log. JSON has one line for each answered request, too.
LOG_FORMAT = env.word("LOG_FORMAT", "text", "TEXT", "JSON").lower()

# The collector of traces, and the name of this hub there. The extra `otel` brings what sends them.
OTEL_EXPORTER_OTLP_ENDPOINT = env.address("OTEL_EXPORTER_OTLP_ENDPOINT")
OTEL_SERVICE_NAME = env.str("OTEL_SERVICE_NAME", "a2a-hub")
if OTEL_EXPORTER_OTLP_ENDPOINT:
    require("OTEL_EXPORTER_OTLP_ENDPOINT", "otel", "opentelemetry.exporter.otlp.proto.http", "opentelemetry.sdk")

# The busiest agents have metrics of their own; so many of them.
A2A_METRICS_AGENTS = env.integer("A2A_METRICS_AGENTS", 100, least=0, most=10_000)


_SCHEMES = ("smtp", "smtp+tls", "smtp+ssl")
_ADDRESS = re.compile(r"[^@\s,<>]+@[^@\s,<>]+")

# The webhook, and the form of its body: the hub's own JSON, or the text that Slack and its likes take.
A2A_ALERT_URL = env.address("A2A_ALERT_URL")
A2A_ALERT_FORMAT = env.word("A2A_ALERT_FORMAT", "json", "JSON", "SLACK").lower()
# The people who get mail, and its sender.
A2A_ALERT_MAIL: list[str] = env.list("A2A_ALERT_MAIL", default=[])
A2A_ALERT_MAIL_FROM: str = env.str("A2A_ALERT_MAIL_FROM", "a2a-hub@localhost")
# How long a decision waits before it is reported, and after how long it is reported again (0: never).
A2A_ALERT_AFTER = env.span("A2A_ALERT_AFTER_MS", 600_000, least=0)
A2A_ALERT_REPEAT = env.span("A2A_ALERT_REPEAT_MS", 86_400_000, least=0)

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


# An agent whose oldest queued task waits longer takes no work, or falls behind.
A2A_ATTENTION_QUEUED = env.span("A2A_ATTENTION_QUEUED_MS", 900_000, least=1_000)
# So many results of an agent, or of the hub, are errors: at least ERRORS of them, and this share, within the span.
A2A_ATTENTION_ERRORS = env.integer("A2A_ATTENTION_ERRORS", 5, least=1)
A2A_ATTENTION_ERROR_SHARE = env.integer("A2A_ATTENTION_ERROR_SHARE", 25, least=1, most=100)
A2A_ATTENTION_ERRORS_WITHIN = env.span("A2A_ATTENTION_ERRORS_WITHIN_MS", 900_000, least=60_000, most=86_400_000)
# A callback that was retried longer than this needs a person before it is given up.
A2A_ATTENTION_CALLBACK = env.span("A2A_ATTENTION_CALLBACK_MS", 300_000, least=1_000)
