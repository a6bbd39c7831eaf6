"""A person's preferences, kept in cookies of their browser. So the first byte of a page already follows them."""

import zoneinfo
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any, Self

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
    """``live`` is the number of seconds between two requests of a live page; 0 pauses it.

    ``times`` is "absolute" or "relative". ``shortcuts`` are single keys; some assistive tools type such keys by
    themselves. ``hide_payloads`` puts the payloads of tasks behind a click.
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
        """Read the cookies. An invalid value counts as the default."""
        kept = {name: request.COOKIES.get(f"ops_{name}", "") for name in READ}
        return cls().with_changes(kept)

    def with_changes(self, changes: Mapping[str, str]) -> Self:
        """Return the preferences with the ``changes``, by name. An invalid value is ignored."""
        fits: dict[str, Any] = {name: read(changes[name]) for name, read in READ.items() if name in changes}
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
    """Whether this machine knows a time zone of this name."""
    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


# The reader of each preference from a cookie or a form. It returns None for an invalid value.
READ: Mapping[str, Callable[[str], object]] = {
    "theme": lambda text: text if text in THEMES else None,
    "zone": lambda text: text if is_zone(text) else None,
    "live": lambda text: int(text) if text in map(str, LIVE_SECONDS) else None,
    "times": lambda text: text if text in TIMES else None,
    "density": lambda text: text if text in DENSITIES else None,
    "shortcuts": {"on": True, "off": False}.get,
    "hide_payloads": {"on": True, "off": False}.get,
}
