"""Keeping secrets out of what is printed and shown."""

from __future__ import annotations

import logging
import re

from mailbox import key_format

_QUERY = re.compile(r"(https?://[^\s?\"'<>]+)\?[^\s\"'<>]+")
_formatter = logging.Formatter()


def url(text: str) -> str:
    """Return a URL as people may see it: without its query, in which many carry a token, and keys cut short."""
    address, mark, _ = key_format.redact(text).partition("?")
    return f"{address}?…" if mark else address


def text(said: str) -> str:
    """Return ``said`` with keys cut short, and whatever stands after the question mark of a URL in it."""
    return _QUERY.sub(r"\1?…", key_format.redact(said))


class RedactSecrets(logging.Filter):
    """Cut API keys and route tokens short in every record, its traceback included; drop none."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = key_format.redact(record.getMessage()), None
        if record.exc_info and not record.exc_text:
            record.exc_text = _formatter.formatException(record.exc_info)
        if record.exc_text:
            record.exc_text = key_format.redact(record.exc_text)
        return True
