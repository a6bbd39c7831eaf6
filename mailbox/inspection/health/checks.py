"""One line of the health page."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class HealthStatus(StrEnum):
    OK = "ok"
    DEGRADED = "degraded"
    FAILING = "failing"


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthCheck:
    """``saw`` is the measured value. ``note`` is its meaning or what to do; "" without either."""

    name: str
    word: HealthStatus
    saw: str
    note: str = ""
