"""The environment as the settings read it, remembered, so that people can be shown what was chosen and where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import environ


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """One variable that was read: the value the settings use, whether it is set, and whether that is the default."""

    value: Any
    is_set: bool
    is_default: bool


class Environment(environ.Env):  # type: ignore[misc]
    """Reads the environment; ``seen`` is what was read so far, by the variable's name."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: dict[str, Read] = {}

    def get_value(
        self, var: str, cast: Any = None, default: Any = environ.Env.NOTSET, parse_default: bool = False
    ) -> Any:
        value = super().get_value(var, cast=cast, default=default, parse_default=parse_default)
        self.seen[var] = Read(value=value, is_set=var in self.ENVIRON, is_default=value == default)
        return value
