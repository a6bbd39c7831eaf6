"""What a person chose for their own browser: kept in cookies, so that the first byte already has it."""

from __future__ import annotations

import zoneinfo
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponseBase

THEMES = ("auto", "light", "dark")
LIVE_SECONDS = (0, 5, 15, 60)
TIMES = ("absolute", "relative")
DENSITIES = ("comfortable", "compact")
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
    """``live`` is how many seconds pass between looks of a live page; 0 is paused.

    ``times`` is how moments are written: as the clock showed, or how long ago. ``shortcuts`` are single keys, which
    some people's tools type by themselves. With ``hide_payloads`` what tasks carry stands behind a click.
    """

    theme: str = "auto"
    zone: str = "UTC"
    live: int = 5
    times: str = "absolute"
    density: str = "comfortable"
    shortcuts: bool = True
    hide_payloads: bool = False

    @classmethod
    def of(cls, request: HttpRequest) -> Self:
        """Read the cookies; whatever does not fit is the default."""
        kept = {name: request.COOKIES.get(f"ops_{name}", "") for name in READ}
        return cls().with_changes(kept)

    def with_changes(self, asked: Mapping[str, str]) -> Self:
        """Return these choices with those of ``asked``, by name; what does not fit stays as it is."""
        fits: dict[str, Any] = {name: read(asked[name]) for name, read in READ.items() if name in asked}
        return type(self)(**{**asdict(self), **{name: value for name, value in fits.items() if value is not None}})

    @property
    def tzinfo(self) -> zoneinfo.ZoneInfo:
        return zoneinfo.ZoneInfo(self.zone)

    @property
    def live_ms(self) -> int:
        return self.live * 1000

    def remember(self, response: HttpResponseBase, *, secure: bool) -> None:
        for name, value in asdict(self).items():
            text = ("off", "on")[value] if isinstance(value, bool) else str(value)
            response.set_cookie(
                f"ops_{name}", text, max_age=_KEPT_FOR, path="/ops/", secure=secure, httponly=True, samesite="Lax"
            )


def is_zone(name: str) -> bool:
    """Whether this is the name of a time zone that this machine knows."""
    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


# How each choice is read from a cookie or a form; None for what is none.
READ: Mapping[str, Callable[[str], object]] = {
    "theme": lambda text: text if text in THEMES else None,
    "zone": lambda text: text if is_zone(text) else None,
    "live": lambda text: int(text) if text in map(str, LIVE_SECONDS) else None,
    "times": lambda text: text if text in TIMES else None,
    "density": lambda text: text if text in DENSITIES else None,
    "shortcuts": {"on": True, "off": False}.get,
    "hide_payloads": {"on": True, "off": False}.get,
}
