"""What an address may choose among: anything else is refused, so that no page shows other rows than were asked for."""

from __future__ import annotations

from collections.abc import Collection

from mailbox.words.errors import InvalidRequestError


def one_of(name: str, asked: str | None, choices: Collection[str], default: str = "") -> str:
    """Return which of ``choices`` is asked for, ``default`` where nothing is; raise `InvalidRequestError`."""
    if not asked or asked == default:
        return default
    if asked not in choices:
        raise InvalidRequestError({name: f'is one of {", ".join(filter(None, choices))}, not "{asked[:50]}"'})
    return asked
