"""The environment as the settings read it.

Refused where it cannot be meant, and remembered, so that people can be shown what was chosen and where.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import environ

from a2aproject.errors import UnusableSettingError

FALSE_STRINGS = ("false", "off", "n", "no", "0", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """One variable that was read: the value the settings use, whether it is set, and whether that is the default."""

    value: Any
    is_set: bool
    is_default: bool


class Environment(environ.Env):  # type: ignore[misc]
    """Reads the environment; ``seen`` is what was read so far, by the variable's name.

    Whatever it reads, it raises `UnusableSettingError` for a value that cannot be meant.
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
            what = {int: "a whole number"}.get(cast, "JSON")
            raise UnusableSettingError(f"{var} is {self.ENVIRON[var]!r}: it must be {what}.") from error
        self.seen[var] = Read(value=value, is_set=var in self.ENVIRON, is_default=value == default)
        return value

    def switch(self, var: str, *, default: bool) -> bool:
        """Return whether the variable is on."""
        given = self.ENVIRON.get(var, "").strip().lower()
        if given not in (*self.BOOLEAN_TRUE_STRINGS, *FALSE_STRINGS):
            raise UnusableSettingError(f"{var} is {given!r}: it must be 1 for on, or 0 for off.")
        return bool(self.bool(var, default))

    def integer(self, var: str, default: int, *, least: int, most: int = 2**31 - 1) -> int:
        """Return the variable's whole number between ``least`` and ``most``."""
        number: int = self.int(var, default)
        if not least <= number <= most:
            raise UnusableSettingError(f"{var} is {number}: it must be between {least} and {most}.")
        return number

    def word(self, var: str, default: str, *words: str) -> str:
        """Return the one of ``words`` that the variable says, in whatever case."""
        given: str = self.str(var, default)
        if given.upper() not in words:
            raise UnusableSettingError(f"{var} is {given!r}: it must be one of {', '.join(words)}.")
        return given.upper()

    def words(self, var: str, default: list[str], *words: str) -> list[str]:
        """Return those of ``words`` that the variable lists, one at least, between commas and in whatever case."""
        listed: list[str] = self.list(var, default=default)
        given = [one.strip().lower() for one in listed]
        if not given or not set(given) <= set(words):
            raise UnusableSettingError(
                f"{var} is {','.join(listed)!r}: it must list one or more of {', '.join(words)}, between commas."
            )
        return given

    def records(self, var: str, default: list[dict[str, str]], *keys: str) -> list[dict[str, str]]:
        """Return the variable's JSON, a list of objects in which each of ``keys`` is text."""
        given = self.json(var, default=default)
        whole = isinstance(given, list) and all(
            isinstance(one, dict) and all(isinstance(one.get(key), str) for key in keys) for one in given
        )
        if not whole:
            raise UnusableSettingError(f"{var} must be a JSON list of objects, each with {', '.join(keys)} as text.")
        return list(given)

    def address(self, var: str) -> str:
        """Return the variable's http or https URL without a slash at its end; "" where it is not set."""
        given: str = self.str(var, "").rstrip("/")
        if given and not _is_address(given):
            raise UnusableSettingError(f"{var} is {given!r}: it must be a URL such as https://hub.example.org.")
        return given


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        has_port = parts.port is None or parts.port > 0
    except ValueError:
        return False
    plain = text.isascii() and text.isprintable() and not parts.query and not parts.fragment and "@" not in parts.netloc
    return parts.scheme in ("http", "https") and bool(parts.hostname) and has_port and plain and " " not in text
