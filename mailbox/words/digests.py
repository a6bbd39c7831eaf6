"""Digests of content: keyed digests, and the fingerprint of an error message.

A keyed digest shows that content was repeated, after the content itself was deleted. Messages that differ only in names
and numbers have the same fingerprint.
"""

import hashlib
import json
import re

from django.conf import settings
from django.utils.crypto import constant_time_compare, salted_hmac

_SALT = "a2a hub: digests of content"
READ = 500  # characters of a message that count
DIGITS = 16  # hexadecimal digits of a fingerprint


def digest(value: object) -> str:
    """Return the digest of a JSON value. Values have the same digest if they are the same for `json_text.same`.

    Its key is derived from SECRET_KEY, so that a reader of the digest cannot guess short content.
    """
    return _digest(value, settings.SECRET_KEY)


def fits(value: object, kept: str) -> bool:
    """Whether ``kept`` is the digest of ``value``, under SECRET_KEY or one of SECRET_KEY_FALLBACKS."""
    keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return any(constant_time_compare(_digest(value, key), kept) for key in keys)


def _digest(value: object, key: str | bytes) -> str:
    return salted_hmac(_SALT, json.dumps(value, sort_keys=True), secret=key, algorithm="sha256").hexdigest()


_NOISE = (
    (re.compile(r"\b[a-z][a-z0-9+.-]{1,15}://[^\s\"'<>]+", re.IGNORECASE), "<url>"),
    (re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.IGNORECASE), "<id>"),
    (re.compile(r'"[^"]*"|“[^”]*”|`[^`]*`|(?<!\w)\'[^\']*\'(?!\w)'), "<text>"),
    (re.compile(r"(?<![\w/.])(?:[A-Za-z]:)?(?:[/\\][\w.@~+-]+){2,}[/\\]?"), "<path>"),
    (re.compile(r"\b0x[0-9a-f]+\b|\b(?=[a-f]*[0-9])[0-9a-f]{8,}\b", re.IGNORECASE), "<id>"),
    (re.compile(r"\d+(?:[.,:]\d+)*"), "<n>"),
    (re.compile(r"\s+"), " "),
)


def pattern_of(message: str) -> str:
    """Return the message with its URLs, ids, quoted texts, paths and numbers replaced by their kinds."""
    text = message[:READ]
    for noise, kind in _NOISE:
        text = noise.sub(kind, text)
    return text.strip().lower()


def fingerprint(agent: str, outcome: str, message: str) -> str:
    """Return the fingerprint of failures with this outcome and with messages of one pattern, at one agent."""
    text = "\n".join((agent, outcome, pattern_of(message)))
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]
