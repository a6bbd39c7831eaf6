"""Which hub a command talks to, and with which key."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from a2a_hub_client.cli import contexts
from a2a_hub_client.cli.contexts import ConfigError, Context, Contexts
from a2a_hub_client.credentials import KEY, URL, Credentials, GivenKey, KeyFile, credentials

if TYPE_CHECKING:
    from a2a_hub_client import Hub
    from a2a_hub_client.retry import Retry

USUAL_TIMEOUT = 10.0  # seconds for an answer, beside the wait of a long poll
HOW = f"run `a2a login`, or set {URL} and {KEY}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The options of a command that name the hub and the key. None: the option was not given."""

    url: str | None = None
    context: str | None = None
    key_file: str | None = None
    signing_key_file: str | None = None


def chosen(given: Given) -> Context:
    """Return the hub and the key of a command. Raises `ConfigError` without either.

    Options go before the environment, and the environment before the stored contexts. A stored key is sent to no other
    URL than its own.
    """
    stored = _stored(given)
    url = given.url or (os.environ.get(URL) if given.context is None else None)
    if stored is not None and url is not None and not _is_same(url, stored.url):
        stored = None
    found = Context(url=url or "") if stored is None else stored
    if not found.url:
        raise ConfigError(f"no hub is named: {HOW}")
    if "@" in urlsplit(found.url).netloc:
        raise ConfigError(
            "the URL has credentials, which process lists show: give the key by a file, or by `a2a login`"
        )
    found = _with_given_key(found, given)
    if not _has_key(found):
        raise ConfigError(f"there is no key for {found.url}: {HOW}")
    return found


def connected(context: Context, *, retry: Retry, timeout: float = USUAL_TIMEOUT) -> Hub:
    """Return a client of the context's hub. Raises `ConfigError` for a key or a URL that cannot be used."""
    from a2a_hub_client import Hub

    with _told(context):
        key, signing_key = _keys(context)
        return Hub(context.url, key, signing_key=signing_key, retry=retry, timeout=timeout)


def credentials_of(context: Context) -> Credentials:
    """Return what proves who sends the context's requests. Raises `ConfigError` for a key that cannot be used."""
    with _told(context):
        return credentials(*_keys(context))


def _keys(context: Context) -> tuple[GivenKey | None, str | None]:
    """Return the API key and the private key of a context."""
    if context.signing_key_file is not None:
        return None, Path(context.signing_key_file).read_text("utf-8")
    return context.key if context.key_file is None else KeyFile(context.key_file), None


@contextmanager
def _told(context: Context) -> Iterator[None]:
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


def _stored(given: Given) -> Context | None:
    kept = contexts.load()
    if given.context is not None:
        return kept.named(given.context)
    url = given.url or os.environ.get(URL)
    if url is None:
        return None if kept.current is None else kept.named(kept.current)
    keyed = _with_given_key(Context(url=url), given)
    return keyed if _has_key(keyed) else _of_hub(kept, url)


def _of_hub(kept: Contexts, url: str) -> Context | None:
    """Return the context of this hub, the current one if it is. Raises `ConfigError` if several others are."""
    names = [name for name, context in kept.by_name.items() if _is_same(url, context.url)]
    if kept.current in names:
        return kept.by_name[kept.current]
    if len(names) > 1:
        raise ConfigError(f"{url} has {len(names)} contexts: {', '.join(names)}. Choose one with --context")
    return kept.by_name[names[0]] if names else None


def _with_given_key(context: Context, given: Given) -> Context:
    without = replace(context, key=None, key_file=None, signing_key_file=None)
    if given.signing_key_file is not None:
        return replace(without, signing_key_file=given.signing_key_file)
    if given.key_file is not None:
        return replace(without, key_file=given.key_file)
    if given.context is None and (key := os.environ.get(KEY)):
        return replace(without, key=key)
    return context


def _has_key(context: Context) -> bool:
    return bool(context.key or context.key_file or context.signing_key_file)


def _is_same(url: str, other: str) -> bool:
    return url.rstrip("/") == other.rstrip("/")
