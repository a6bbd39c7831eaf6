"""The log as JSON: one object a line, for a record of any logger and for each answered request."""

import logging
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson

NO_ROUTE = "none"  # of a request that no route answers, such as one for a static file

_requests = logging.getLogger("a2aproject.requests")
request_id: ContextVar[str] = ContextVar("request_id", default="")  # of the request that the thread answers
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A request that was answered. ``route`` is the pattern of its path. ``caller`` is "" for a stranger.

    ``is_known`` tells that an agent or a person made it. Callers by a public route and
    ``anonymous@public`` may be anyone, so that they do not count.
    """

    request_id: str
    route: str
    method: str
    status: int
    seconds: float
    caller: str
    is_known: bool


def has_lines_of_requests() -> bool:
    """Whether the log has a line for each answered request, as the JSON log has."""
    return _requests.isEnabledFor(logging.INFO)


def write(answered: Answered) -> None:
    """Write the line of an answered request."""
    _requests.info("%s %s %d", answered.method, answered.route, answered.status, extra={"answered": answered})


class JSONFormatter(logging.Formatter):
    """Writes each record as a JSON object with ``time``, ``level``, ``logger`` and ``message``.

    A record of a request has ``request_id``, and one with an exception the traceback in ``exception``. The line of an
    answered request has ``agent``, ``route``, ``method``, ``status`` and ``duration_ms``, too. An agent is None for a
    stranger.
    """

    def format(self, record: logging.LogRecord) -> str:
        fields: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        answered: Answered | None = getattr(record, "answered", None)
        if answered is not None:
            fields |= {
                "request_id": answered.request_id,
                "agent": answered.caller or None,
                "route": answered.route,
                "method": answered.method,
                "status": answered.status,
                "duration_ms": round(answered.seconds * 1000, 3),
            }
        elif current := request_id.get():
            fields["request_id"] = current
        if record.exc_info and not record.exc_text:
            record.exc_text = self.formatException(record.exc_info)
        if record.exc_text:
            fields["exception"] = record.exc_text
        return orjson.dumps(fields, default=str).decode()
