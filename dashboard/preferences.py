"""What a person chose for their own browser: kept in cookies, so that the first byte already has it."""

from __future__ import annotations

import zoneinfo
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponseBase

THEMES = ("auto", "light", "dark")
LIVE_SECONDS = (0, 5, 15, 60)
COMMON_ZONES = (
    "UTC",
    "Europe/Berlin",
    "Europe/London",
    "America/New_York",
    "America/Los_Angeles",
    "Asia/Kolkata",
    "Asia/Tokyo",
    "Australia/Sydney",
)
_KEPT_FOR = timedelta(days=365)


@dataclass(frozen=True, slots=True, kw_only=True)
class Preferences:
    """``live`` is how many seconds pass between looks of a live page; 0 is paused."""

    theme: str = "auto"
    zone: str = "UTC"
    live: int = 5

    @classmethod
    def of(cls, request: HttpRequest) -> Self:
        """Read the cookies; whatever does not fit is the default."""
        theme = request.COOKIES.get("ops_theme", "")
        zone = request.COOKIES.get("ops_zone", "")
        live = request.COOKIES.get("ops_live", "")
        return cls(
            theme=theme if theme in THEMES else cls().theme,
            zone=zone if is_zone(zone) else cls().zone,
            live=int(live) if live in map(str, LIVE_SECONDS) else cls().live,
        )

    @property
    def tzinfo(self) -> zoneinfo.ZoneInfo:
        return zoneinfo.ZoneInfo(self.zone)

    @property
    def live_ms(self) -> int:
        return self.live * 1000

    def remember(self, response: HttpResponseBase, *, secure: bool) -> None:
        for name, value in (("ops_theme", self.theme), ("ops_zone", self.zone), ("ops_live", str(self.live))):
            response.set_cookie(
                name, value, max_age=_KEPT_FOR, path="/ops/", secure=secure, httponly=True, samesite="Lax"
            )


def is_zone(name: str) -> bool:
    """Whether this is the name of a time zone that this machine knows."""
    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True
