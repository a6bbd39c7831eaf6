"""Settings for those who run the hub: what they watch, what the hub keeps, and how much each caller may use.

They watch by metrics, the log, traces and alerts. The thresholds decide what "Needs a decision", the health checks and
the alerts report. The hub keeps rows for their times. Callers have rates and quotas.
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


# Statuses of the results that the idempotency cache keeps, and for how long: 90 days (0: until an operator drops the
# entry).
A2A_REPLAY_STATUSES = env.words("A2A_REPLAY_STATUSES", ["ok"], "ok", "partial", "error")
A2A_REPLAY_TTL = env.span("A2A_REPLAY_TTL_MS", 7_776_000_000, least=0)

# How long finished tasks are kept: after the acknowledgement, and after a delivery without one. With SWEEP on, the
# scheduler deletes them; otherwise operators do.
A2A_RETENTION_ACKED = env.span("A2A_RETENTION_ACKED_MS", 3_600_000, least=0)
A2A_RETENTION_DELIVERED = env.span("A2A_RETENTION_DELIVERED_MS", 604_800_000, least=0)
A2A_RETENTION_SWEEP = env.switch("A2A_RETENTION_SWEEP", default=False)
# The sweep always deletes callbacks of this age that were delivered or given up, and peers that were silent so long.
A2A_RETENTION_CALLBACKS = env.span("A2A_RETENTION_CALLBACKS_MS", 2_592_000_000, least=0)
A2A_RETENTION_PEERS = env.span("A2A_RETENTION_PEERS_MS", 2_592_000_000, least=0)

# The journal is sealed in signed blocks. TRUSTED_KEYS are the public keys of earlier seal keys. The hub posts the hash
# of the newest block to ANCHOR_URL.
A2A_SEAL_TRUSTED_KEYS = env.list("A2A_SEAL_TRUSTED_KEYS", default=[])
A2A_SEAL_ANCHOR_URL = env.address("A2A_SEAL_ANCHOR_URL")


# Requests a second of one agent, under all its keys, or of one person, and requests at once; 0 a second: no limit. Each
# web process grants its share. A client with one connection meets one process, so the share must suit a fast worker.
A2A_AGENT_REQUESTS_PER_S = env.integer("A2A_AGENT_REQUESTS_PER_S", 500, least=0)
A2A_AGENT_REQUESTS_BURST = env.integer("A2A_AGENT_REQUESTS_BURST", 2000, least=1)
# Requests a second from one address without a valid key, and requests at once.
A2A_ADDRESS_REQUESTS_PER_S = env.integer("A2A_ADDRESS_REQUESTS_PER_S", 50, least=0)
A2A_ADDRESS_REQUESTS_BURST = env.integer("A2A_ADDRESS_REQUESTS_BURST", 200, least=1)

# tasks/send: requests per minute and agent, and the number of tasks beyond which resolved tasks are deleted.
A2A_INBOUND_RATE_LIMIT_PER_MIN = env.integer("A2A_INBOUND_RATE_LIMIT_PER_MIN", 5, least=1)
A2A_TASKS_SEND_CAP = env.integer("A2A_TASKS_SEND_CAP", 1000, least=1)
# YEOMAN: messages and tasks per minute and agent.
A2A_RECEIVE_RATE_LIMIT_PER_MIN = env.integer("A2A_RECEIVE_RATE_LIMIT_PER_MIN", 600, least=1)
# Requests per minute without a key, from one address to one agent that is open to anyone.
A2A_ANONYMOUS_RATE_LIMIT_PER_MIN = env.integer("A2A_ANONYMOUS_RATE_LIMIT_PER_MIN", 120, least=1)
# Requests per minute through a public route that was created without a limit of its own.
A2A_ROUTE_RATE_LIMIT_PER_MIN = env.integer("A2A_ROUTE_RATE_LIMIT_PER_MIN", 120, least=1)

# Quotas of one agent, unless it has its own. They bound the queued tasks that it sent, and those for one recipient.
# They bound the bytes of its tasks until their compaction, and its callbacks to come. They also bound its waiting
# requests in one process, and its job cards.
A2A_QUOTA_QUEUED = env.integer("A2A_QUOTA_QUEUED", 10_000, least=1)
A2A_QUOTA_QUEUED_TO_ONE = env.integer("A2A_QUOTA_QUEUED_TO_ONE", 1000, least=1)
A2A_QUOTA_BYTES = env.integer("A2A_QUOTA_BYTES", 1_073_741_824, least=1, most=2**62)
A2A_QUOTA_CALLBACKS = env.integer("A2A_QUOTA_CALLBACKS", 1000, least=1)
A2A_QUOTA_WAITS = env.integer("A2A_QUOTA_WAITS", 32, least=1)
# Bytes of the messages and artifacts of one task.
A2A_TASK_MAX_BYTES = env.integer("A2A_TASK_MAX_BYTES", 16_777_216, least=1, most=2**30)
A2A_QUOTA_CARDS = env.integer("A2A_QUOTA_CARDS", 100, least=1)
