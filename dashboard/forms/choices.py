"""The choices of an address. An unknown value is refused, so a page never shows other rows than requested."""

from __future__ import annotations

from collections.abc import Collection

from mailbox.words.errors import InvalidRequestError


def one_of(name: str, asked: str | None, choices: Collection[str], default: str = "") -> str:
    """Return the requested member of ``choices``, ``default`` if none is requested; raise `InvalidRequestError`."""
    if not asked or asked == default:
        return default
    if asked not in choices:
        raise InvalidRequestError({name: f'must be one of {", ".join(filter(None, choices))}, not "{asked[:50]}"'})
    return asked
