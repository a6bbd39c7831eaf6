"""Removes secrets from texts that are printed or shown."""

import logging
import re
from collections.abc import Collection
from typing import Any

from mailbox.words import tokens

HIDDEN = "[redacted]"

_QUERY = re.compile(r"(https?://[^\s?\"'<>]+)\?[^\s\"'<>]+")
_END_OF_AUTHORITY = re.compile(r"[/?#\\]")
_JOINTS = re.compile(r"[-_.\s]")
_formatter = logging.Formatter()


def url(text: str) -> str:
    """Return a URL that people may see. Its query, where tokens often are, is left out, and keys are shortened."""
    address, mark, _ = tokens.redact(text).partition("?")
    return f"{address}?…" if mark else address


def has_credentials(url: str) -> bool:
    """Whether the URL has a user, a password, a key or the token of a public route.

    An agent's own URL has its display in the path, so an ``@`` counts only before the path.
    """
    _, mark, rest = url.partition("://")
    authority = _END_OF_AUTHORITY.split(rest, maxsplit=1)[0] if mark else url
    return "@" in authority or tokens.redact(url) != url


def text(unsafe: str) -> str:
    """Return the text with shortened keys, and without the queries of URLs."""
    return _QUERY.sub(r"\1?…", tokens.redact(unsafe))


def fields(value: Any, names: Collection[str]) -> Any:
    """Return a JSON value in which the values under these names are replaced by `HIDDEN`, at any depth.

    ``api_key`` also matches ``api-key`` and ``apiKey``.
    """
    folded = {_folded(name) for name in names}

    def hidden(part: Any) -> Any:
        if isinstance(part, dict):
            return {key: HIDDEN if _folded(key) in folded else hidden(inner) for key, inner in part.items()}
        return [hidden(inner) for inner in part] if isinstance(part, list) else part

    return hidden(value)


def _folded(name: str) -> str:
    return _JOINTS.sub("", name).casefold()


class RedactSecrets(logging.Filter):
    """Shortens API keys and route tokens in log records and their tracebacks. Keeps every record."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = tokens.redact(record.getMessage()), None
        if record.exc_info and not record.exc_text:
            record.exc_text = _formatter.formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = tokens.redact(record.exc_text)
        return True
