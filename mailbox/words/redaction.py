"""Keeping secrets out of what is printed and shown."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection
from typing import Any

from mailbox.words import tokens

HIDDEN = "[redacted]"

_QUERY = re.compile(r"(https?://[^\s?\"'<>]+)\?[^\s\"'<>]+")
_JOINTS = re.compile(r"[-_.\s]")
_formatter = logging.Formatter()


def url(text: str) -> str:
    """Return a URL as people may see it: without its query, in which many carry a token, and keys cut short."""
    address, mark, _ = tokens.redact(text).partition("?")
    return f"{address}?…" if mark else address


def text(said: str) -> str:
    """Return ``said`` with keys cut short, and whatever stands after the question mark of a URL in it."""
    return _QUERY.sub(r"\1?…", tokens.redact(said))


def fields(value: Any, names: Collection[str]) -> Any:
    """Return a JSON value with what stands under one of these names hidden, at any depth.

    ``api_key`` names ``api-key`` and ``apiKey`` too.
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
    """Cut API keys and route tokens short in every record, its traceback included; drop none."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = tokens.redact(record.getMessage()), None
        if record.exc_info and not record.exc_text:
            record.exc_text = _formatter.formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = tokens.redact(record.exc_text)
        return True
