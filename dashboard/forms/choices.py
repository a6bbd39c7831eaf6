"""The choices of an address. An unknown value is refused, so a page never shows other rows than requested."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from uuid import UUID

from mailbox.words.errors import InvalidRequestError


def uuids(name: str, given: Sequence[str], *, most: int) -> list[UUID]:
    """Return the first ``most`` ids; raise `InvalidRequestError` for another text."""
    try:
        return [UUID(text) for text in given[:most]]
    except ValueError as error:
        raise InvalidRequestError({name: "isn't an ID"}) from error


def one_of(name: str, asked: str | None, choices: Collection[str], default: str = "") -> str:
    """Return the requested member of ``choices``, ``default`` if none is requested; raise `InvalidRequestError`."""
    if not asked or asked == default:
        return default
    if asked not in choices:
        raise InvalidRequestError({name: f'must be one of {", ".join(filter(None, choices))}, not "{asked[:50]}"'})
    return asked
