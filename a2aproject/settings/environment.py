"""Reads environment variables for the settings.

Invalid values are errors. The values read are recorded, so that pages can show which settings an operator chose.
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Any
from urllib.parse import urlsplit

import environ

from a2aproject.errors import UnusableSettingError

CENTURY_MS = 3_155_760_000_000  # the longest span of a setting
FALSE_STRINGS = ("false", "off", "n", "no", "0", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A variable that was read: its value, whether the environment sets it, and whether the value is the default."""

    value: Any
    is_set: bool
    is_default: bool


class Environment(environ.Env):  # type: ignore[misc]
    """Reads environment variables. ``seen`` holds the variables read so far, by name.

    Every method raises `UnusableSettingError` for an invalid value.
    """

    def __init__(self) -> None:
        super().__init__()
        self.seen: dict[str, Read] = {}

    def get_value(
        self, var: str, cast: Any = None, default: Any = environ.Env.NOTSET, parse_default: bool = False
    ) -> Any:
        try:
            value = super().get_value(var, cast=cast, default=default, parse_default=parse_default)
        except ValueError as error:
            kind = {int: "a whole number"}.get(cast, "JSON")
            raise UnusableSettingError(f"{var} is {self.ENVIRON[var]!r}: it must be {kind}.") from error
        self.seen[var] = Read(value=value, is_set=var in self.ENVIRON, is_default=value == default)
        return value

    def switch(self, var: str, *, default: bool) -> bool:
        """Return whether the variable is on."""
        given = self.ENVIRON.get(var, "").strip().lower()
        if given not in (*self.BOOLEAN_TRUE_STRINGS, *FALSE_STRINGS):
            raise UnusableSettingError(f"{var} is {given!r}: it must be 1 (on) or 0 (off).")
        return bool(self.bool(var, default))

    def integer(self, var: str, default: int, *, least: int, most: int = 2**31 - 1) -> int:
        """Return the variable's whole number, which must be between ``least`` and ``most``, both included."""
        number: int = self.int(var, default)
        if not least <= number <= most:
            raise UnusableSettingError(f"{var} is {number}: it must be between {least} and {most}.")
        return number

    def word(self, var: str, default: str, *words: str) -> str:
        """Return the variable's value, which must be one of ``words`` in upper or lower case."""
        given: str = self.str(var, default)
        if given.upper() not in words:
            raise UnusableSettingError(f"{var} is {given!r}: it must be one of {', '.join(words)}.")
        return given.upper()

    def words(self, var: str, default: list[str], *words: str) -> list[str]:
        """Return the variable's comma-separated values, at least one, each one of ``words`` in upper or lower case."""
        listed: list[str] = self.list(var, default=default)
        given = [word.strip().lower() for word in listed]
        if not given or not set(given) <= set(words):
            raise UnusableSettingError(
                f"{var} is {','.join(listed)!r}: it must list one or more of {', '.join(words)}, separated by commas."
            )
        return given

    def records(self, var: str, default: list[dict[str, str]], *keys: str) -> list[dict[str, str]]:
        """Return the variable's JSON: a list of objects, each with text under every one of ``keys``."""
        given = self.json(var, default=default)
        whole = isinstance(given, list) and all(
            isinstance(entry, dict) and all(isinstance(entry.get(key), str) for key in keys) for entry in given
        )
        if not whole:
            raise UnusableSettingError(f"{var} must be a JSON list of objects, each with {', '.join(keys)} as text.")
        return list(given)

    def networks(self, var: str, default: list[str]) -> list[IPv4Network | IPv6Network]:
        """Return the variable's comma-separated addresses and networks. The word ``none`` stands for an empty list."""
        listed: list[str] = self.list(var, default=default)
        try:
            return [ip_network(one.strip()) for one in listed if one.strip().lower() != "none"]
        except ValueError as error:
            raise UnusableSettingError(
                f"{var} is {','.join(listed)!r}: it must list addresses and networks such as 10.0.0.0/8, or be none."
            ) from error

    def address(self, var: str) -> str:
        """Return the variable's http or https URL without a final slash, "" if it is not set."""
        given: str = self.str(var, "").rstrip("/")
        if given and not _is_address(given):
            raise UnusableSettingError(f"{var} is {given!r}: it must be a URL such as https://hub.example.org.")
        return given


env = Environment()  # the variables of this process


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        has_port = parts.port is None or parts.port > 0
    except ValueError:
        return False
    plain = text.isascii() and text.isprintable() and not parts.query and not parts.fragment and "@" not in parts.netloc
    return parts.scheme in ("http", "https") and bool(parts.hostname) and has_port and plain and " " not in text
