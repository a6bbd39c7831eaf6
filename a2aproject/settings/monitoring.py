"""Settings of those who watch the hub: metrics, the log and traces."""

from __future__ import annotations

from a2aproject.errors import UnusableSettingError
from a2aproject.settings.environment import env
from a2aproject.settings.extras import require

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
