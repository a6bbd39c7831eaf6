"""The fingerprint of an error message: the same for messages that differ only in names and numbers."""

from __future__ import annotations

import hashlib
import re

READ = 500  # characters of a message that count
DIGITS = 16  # hexadecimal digits of a fingerprint

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


def of(agent: str, outcome: str, message: str) -> str:
    """Return the fingerprint of failures with this outcome and with messages of one pattern, at one agent."""
    told = "\n".join((agent, outcome, pattern_of(message)))
    return hashlib.sha256(told.encode()).hexdigest()[:DIGITS]
