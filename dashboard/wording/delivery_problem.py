"""The problem of an attempt at a delivery, in few words. The page shows the receiver's URL once, beside it."""

from __future__ import annotations

import re

from mailbox.words import redaction

_NOISE = re.compile(r"\[Errno -?\d+\] |^A2A: ")
_NO_ANSWER = re.compile(r"^no answer(?: from \S+?)?(?P<late> within [\d.]+ s)?(?::? |$)")
_ANSWERED = re.compile(r"^the receiver answered \d+(?:: )?")


def in_words(problem: str, status: int | None) -> str:
    """Return the problem without the receiver's URL and the numbers of the system's errors.

    A receiver that answered has its ``status`` first. An attempt without a problem is "", or its status.
    """
    text = _NOISE.sub("", redaction.text(problem or "")).strip()
    if status is not None:
        said = _ANSWERED.sub("", text).strip()
        return f"HTTP {status}{f': {said}' if said else ''}"
    if found := _NO_ANSWER.match(text):
        cause = text[found.end() :]
        text = cause or f"no answer{found['late'] or ''}"
    return text[:1].upper() + text[1:]
