"""The stored hubs: a file in TOML that only its owner can read."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

VARIABLE = "A2A_CONFIG"
OTHERS = stat.S_IRWXG | stat.S_IRWXO


class ConfigError(Exception):
    """The file of the stored hubs cannot be used, or a command lacks a hub or a key."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """A hub and one way to prove who sends: a ``key``, the file of a key, or the file of a private key that signs."""

    url: str
    key: str | None = None
    key_file: str | None = None
    signing_key_file: str | None = None


@dataclass(frozen=True, slots=True)
class Contexts:
    """The stored hubs by name. ``current`` is the name of the hub that commands use, None without it."""

    by_name: Mapping[str, Context] = field(default_factory=dict)
    current: str | None = None

    def named(self, name: str) -> Context:
        """Return the context of this name. Raises `ConfigError`."""
        if name not in self.by_name:
            names = ", ".join(self.by_name) or "none"
            raise ConfigError(f'there is no context "{name}". There are: {names}. `a2a login --name {name}` makes it.')
        return self.by_name[name]

    def with_context(self, name: str, context: Context) -> Contexts:
        """Return the contexts with this one as the current one."""
        return Contexts({**self.by_name, name: context}, name)

    def without(self, name: str) -> Contexts:
        """Return the contexts without this one. Raises `ConfigError`."""
        self.named(name)
        left = {other: context for other, context in self.by_name.items() if other != name}
        return Contexts(left, None if self.current == name else self.current)


def path() -> Path:
    """Return the path of the file: that in ``A2A_CONFIG``, or one in the user's folder for settings."""
    if given := os.environ.get(VARIABLE):
        return Path(given)
    import platformdirs

    return Path(platformdirs.user_config_dir("a2a")) / "config.toml"


def load() -> Contexts:
    """Return the stored contexts, none without a file.

    Raises `ConfigError` for a file that others can read, and for a file of another form.
    """
    file = path()
    try:
        mode, text = file.stat().st_mode, file.read_text("utf-8")
    except FileNotFoundError:
        return Contexts()
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}") from error
    if mode & OTHERS and os.name == "posix":
        raise ConfigError(f"{file} holds keys, and others can read it. Run: chmod 600 {file}")
    try:
        found = tomllib.loads(text)
        contexts = {name: Context(**fields) for name, fields in found.get("contexts", {}).items()}
    except (tomllib.TOMLDecodeError, TypeError, AttributeError) as error:
        raise ConfigError(f"{file} is no file of `a2a login`: {error}") from error
    return Contexts(contexts, found.get("current"))


def store(contexts: Contexts) -> None:
    """Replace the file, so that a reader sees the old contexts or the new. Raises `ConfigError`."""
    import tomli_w

    file = path()
    document: dict[str, Any] = {} if contexts.current is None else {"current": contexts.current}
    document["contexts"] = {name: _given(context) for name, context in contexts.by_name.items()}
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _replace(file, tomli_w.dumps(document).encode())
    except OSError as error:
        raise ConfigError(f"{file} cannot be written: {error.strerror}") from error


def _replace(file: Path, content: bytes) -> None:
    """Replace the file by a file of its owner alone. A failure leaves no other file. Raises `OSError`."""
    written = file.with_name(f".{file.name}.{uuid4().hex}")
    try:
        with os.fdopen(os.open(written, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        written.replace(file)
    except BaseException:
        with contextlib.suppress(OSError):
            written.unlink(missing_ok=True)
        raise


def _given(context: Context) -> dict[str, str]:
    return {name: value for name, value in asdict(context).items() if value is not None}
