"""Readers of environment variables, the optional packages that a hub needs, and the number of its web processes.

Invalid values are errors. The values read are recorded, so that pages can show which settings an operator chose. The
packages that only some hubs need are the extras of pyproject.toml. The hub starts a web process for each processor.
"""

import math
import os
from datetime import timedelta
from importlib.util import find_spec
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import environ

from a2aproject.errors import UnusableSettingError

CENTURY_MS = 3_155_760_000_000  # the longest span of a setting
FALSE_STRINGS = ("false", "off", "n", "no", "0", "")


class Read(NamedTuple):
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
        value = self.ENVIRON.get(var, "").strip().lower()
        if value not in (*self.BOOLEAN_TRUE_STRINGS, *FALSE_STRINGS):
            raise UnusableSettingError(f"{var} is {value!r}: it must be 1 (on) or 0 (off).")
        return bool(self.bool(var, default))

    def integer(self, var: str, default: int, *, least: int, most: int = 2**31 - 1) -> int:
        """Return the variable's whole number, which must be between ``least`` and ``most``, both included."""
        number: int = self.int(var, default)
        if not least <= number <= most:
            raise UnusableSettingError(f"{var} is {number}: it must be between {least} and {most}.")
        return number

    def span(self, var: str, default: int, *, least: int, most: int = CENTURY_MS) -> timedelta:
        """Return the variable's milliseconds as a span, within the bounds of `integer`."""
        return timedelta(milliseconds=self.integer(var, default, least=least, most=most))

    def word(self, var: str, default: str, *words: str) -> str:
        """Return the variable's value, which must be one of ``words`` in upper or lower case."""
        value: str = self.str(var, default)
        if value.upper() not in words:
            raise UnusableSettingError(f"{var} is {value!r}: it must be one of {', '.join(words)}.")
        return value.upper()

    def words(self, var: str, default: list[str], *words: str) -> list[str]:
        """Return the variable's comma-separated values, at least one, each one of ``words`` in upper or lower case."""
        listed: list[str] = self.list(var, default=default)
        values = [word.strip().lower() for word in listed]
        if not values or not set(values) <= set(words):
            raise UnusableSettingError(
                f"{var} is {','.join(listed)!r}: it must list one or more of {', '.join(words)}, separated by commas."
            )
        return values

    def records(self, var: str, default: list[dict[str, str]], *keys: str) -> list[dict[str, str]]:
        """Return the variable's JSON: a list of objects, each with text under every one of ``keys``."""
        value = self.json(var, default=default)
        whole = isinstance(value, list) and all(
            isinstance(entry, dict) and all(isinstance(entry.get(key), str) for key in keys) for entry in value
        )
        if not whole:
            raise UnusableSettingError(f"{var} must be a JSON list of objects, each with {', '.join(keys)} as text.")
        return list(value)

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
        value: str = self.str(var, "").rstrip("/")
        if value and not _is_address(value):
            raise UnusableSettingError(f"{var} is {value!r}: it must be a URL such as https://hub.example.org.")
        return value


env = Environment()  # the variables of this process


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        has_port = parts.port is None or parts.port > 0
    except ValueError:
        return False
    plain = text.isascii() and text.isprintable() and not parts.query and not parts.fragment and "@" not in parts.netloc
    return parts.scheme in ("http", "https") and bool(parts.hostname) and has_port and plain and " " not in text


def is_pooled(env: Environment) -> bool:
    """Return whether ``DATABASE_POOLER`` names a pooler, in which each transaction may have another session."""
    if env.ENVIRON.get("DATABASE_PREPARE"):
        raise UnusableSettingError("Unset DATABASE_PREPARE. Behind a pooler, set DATABASE_POOLER=transaction instead.")
    return env.word("DATABASE_POOLER", "none", "NONE", "TRANSACTION") == "TRANSACTION"


def require(variable: str, extra: str, *modules: str) -> None:
    """Raise `UnusableSettingError` unless the modules are installed, which a hub with ``variable`` needs."""
    if not all(map(_is_installed, modules)):
        raise UnusableSettingError(f"{variable} needs the packages of the extra {extra}: run `make extras`.")


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the package around it is missing
        return False


# SQLite takes one write at a time, so that further processes would only wait for each other.
MOST_ON_SQLITE = 4
MOST_BY_DEFAULT = 16  # so that the connections of all processes fit, and each pool has two
MOST_CONNECTIONS = 64  # of all web processes by default: a PostgreSQL server takes 100 by default
OF_THE_BELL = 2  # connections of a process beside its pool: one listens, and one rings
LEAST_IN_A_POOL, MOST_IN_A_POOL = 2, 16
CONTROL_GROUPS, MEMBERSHIP = Path("/sys/fs/cgroup"), Path("/proc/self/cgroup")


def web_workers(env: Environment) -> int:
    """Return ``WEB_WORKERS``. Its default is the number of processors.

    The default is at most `MOST_BY_DEFAULT`, and at most `MOST_ON_SQLITE` on SQLite.
    """
    is_postgresql = env.str("DATABASE_URL", "").startswith("postgres")
    default = min(processors(), MOST_BY_DEFAULT if is_postgresql else MOST_ON_SQLITE)
    return env.integer("WEB_WORKERS", default, least=1, most=1024)


def pool_size(env: Environment) -> int:
    """Return ``DATABASE_POOL_SIZE``.

    Its default is the share of one web process in `MOST_CONNECTIONS`, without the connections of its bell.
    """
    share = MOST_CONNECTIONS // web_workers(env) - OF_THE_BELL
    default = max(LEAST_IN_A_POOL, min(MOST_IN_A_POOL, share))
    return env.integer("DATABASE_POOL_SIZE", default, least=1)


def processors(root: Path = CONTROL_GROUPS, membership: Path = MEMBERSHIP) -> int:
    """Return how many processors this process may use at once, at least 1.

    The system may bind it to some of the machine's. A container's limit, such as 1.5 processors, is rounded up.
    """
    try:
        own = len(os.sched_getaffinity(0))
    except AttributeError:  # not on Linux
        own = os.cpu_count() or 1
    return max(1, math.ceil(min(own, _limit(root, membership))))


def _limit(root: Path, membership: Path) -> float:
    """Return the processors that the control groups of this process grant; infinity without a limit."""
    lines = _text(membership).splitlines()
    paths = [line.partition("::")[2].strip("/") for line in lines if line.startswith("0::")]
    folders = [folder for path in paths or [""] for folder in ((root / path), *(root / path).parents)]
    grants = [_text(folder / "cpu.max").split() for folder in folders if folder.is_relative_to(root)]
    # The first version of control groups has two files, and -1 for no limit.
    old = root / "cpu"
    grants.append([_text(old / "cpu.cfs_quota_us").strip(), _text(old / "cpu.cfs_period_us").strip()])
    return min((int(quota) / int(period) for quota, period in map(_pair, grants) if quota.isdigit()), default=math.inf)


def _pair(grant: list[str]) -> tuple[str, str]:
    """Return the quota and its period, or a quota that is no number."""
    return (grant[0], grant[1]) if len(grant) == 2 and grant[1].isdigit() and grant[1] != "0" else ("", "")


def _text(file: Path) -> str:
    try:
        return file.read_text()
    except OSError:
        return ""
