"""The stored hubs, in a TOML file that only its owner can read, and the hub and the key of a command."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from uuid import uuid4

from a2a_hub_client.credentials import KEY, URL, Credentials, KeyFile, KeySource, credentials
from a2a_hub_client.models.wire import filled

if TYPE_CHECKING:
    from a2a_hub_client import Hub
    from a2a_hub_client.retry import Retry

VARIABLE = "A2A_CONFIG"
USUAL_TIMEOUT = 10.0  # seconds for an answer, beside the wait of a long poll


if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

OTHERS = stat.S_IRWXG | stat.S_IRWXO
HOW = f"run `a2a login`, or set {URL} and {KEY}"


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
    if file := os.environ.get(VARIABLE):
        return Path(file)
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
        document = tomllib.loads(text)
        contexts = {name: Context(**fields) for name, fields in document.get("contexts", {}).items()}
    except (tomllib.TOMLDecodeError, TypeError, AttributeError) as error:
        raise ConfigError(f"{file} is no file of `a2a login`: {error}") from error
    return Contexts(contexts, document.get("current"))


def store(contexts: Contexts) -> None:
    """Replace the file, so that a reader sees the old contexts or the new. Raises `ConfigError`."""
    import tomli_w

    file = path()
    document: dict[str, Any] = {} if contexts.current is None else {"current": contexts.current}
    document["contexts"] = {name: filled(asdict(context)) for name, context in contexts.by_name.items()}
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionOptions:
    """The options of a command that name the hub and the key. None: the option was not given."""

    url: str | None = None
    context: str | None = None
    key_file: str | None = None
    signing_key_file: str | None = None


def chosen(options: ConnectionOptions) -> Context:
    """Return the hub and the key of a command. Raises `ConfigError` without either.

    Options go before the environment, and the environment before the stored contexts. A stored key is sent to no other
    URL than its own.
    """
    stored = _stored(options)
    url = options.url or (os.environ.get(URL) if options.context is None else None)
    if stored is not None and url is not None and not _is_same(url, stored.url):
        stored = None
    context = Context(url=url or "") if stored is None else stored
    if not context.url:
        raise ConfigError(f"no hub is named: {HOW}")
    if "@" in urlsplit(context.url).netloc:
        raise ConfigError(
            "the URL has credentials, which process lists show: give the key by a file, or by `a2a login`"
        )
    context = _with_key_option(context, options)
    if not _has_key(context):
        raise ConfigError(f"there is no key for {context.url}: {HOW}")
    return context


def connected(context: Context, *, retry: Retry, timeout: float = USUAL_TIMEOUT) -> Hub:
    """Return a client of the context's hub. Raises `ConfigError` for a key or a URL that cannot be used."""
    from a2a_hub_client import Hub

    with _config_errors(context):
        key, signing_key = _keys(context)
        return Hub(context.url, key, signing_key=signing_key, retry=retry, timeout=timeout)


def credentials_of(context: Context) -> Credentials:
    """Return what proves who sends the context's requests. Raises `ConfigError` for a key that cannot be used."""
    with _config_errors(context):
        return credentials(*_keys(context))


def _keys(context: Context) -> tuple[KeySource | None, str | None]:
    """Return the API key and the private key of a context."""
    if context.signing_key_file is not None:
        return None, Path(context.signing_key_file).read_text("utf-8")
    return context.key if context.key_file is None else KeyFile(context.key_file), None


@contextmanager
def _config_errors(context: Context) -> Iterator[None]:
    """Turn the errors of a key or a URL that cannot be used into a `ConfigError`."""
    try:
        yield
    except OSError as error:
        raise ConfigError(f"{error.filename} cannot be read: {error.strerror}") from error
    except ImportError as error:
        raise ConfigError(str(error)) from error
    except (TypeError, ValueError) as error:
        file = context.signing_key_file
        raise ConfigError(f"{file} has no Ed25519 private key" if file else str(error)) from error


def _stored(options: ConnectionOptions) -> Context | None:
    kept = load()
    if options.context is not None:
        return kept.named(options.context)
    url = options.url or os.environ.get(URL)
    if url is None:
        return None if kept.current is None else kept.named(kept.current)
    keyed = _with_key_option(Context(url=url), options)
    return keyed if _has_key(keyed) else _of_hub(kept, url)


def _of_hub(kept: Contexts, url: str) -> Context | None:
    """Return the context of this hub, the current one if it is. Raises `ConfigError` if several others are."""
    names = [name for name, context in kept.by_name.items() if _is_same(url, context.url)]
    if kept.current in names:
        return kept.by_name[kept.current]
    if len(names) > 1:
        raise ConfigError(f"{url} has {len(names)} contexts: {', '.join(names)}. Choose one with --context")
    return kept.by_name[names[0]] if names else None


def _with_key_option(context: Context, options: ConnectionOptions) -> Context:
    without = replace(context, key=None, key_file=None, signing_key_file=None)
    if options.signing_key_file is not None:
        return replace(without, signing_key_file=options.signing_key_file)
    if options.key_file is not None:
        return replace(without, key_file=options.key_file)
    if options.context is None and (key := os.environ.get(KEY)):
        return replace(without, key=key)
    return context


def _has_key(context: Context) -> bool:
    return bool(context.key or context.key_file or context.signing_key_file)


def _is_same(url: str, other: str) -> bool:
    return url.rstrip("/") == other.rstrip("/")
