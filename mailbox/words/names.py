"""Displays that spell any text as an agent's name: ``Code Reviewer`` is spelled ``_code-_reviewer@inbox``.

Displays are unique ignoring case, so a spelling has no capital letters. Two names never have the same spelling.
"""

import re
import string

from mailbox.words import json_text
from mailbox.words.errors import InvalidRequestError

HOST = "inbox"  # of spelled names; agents cannot be registered there under a display
HUB_HOST = "hub"  # of the agents of the hub itself
_LOCAL = "@local"
_PLAIN = frozenset(string.ascii_lowercase + string.digits)
_PIECE = re.compile(r"(?P<plain>[a-z0-9]+)|(?P<space>-)|_(?P<capital>[a-z])|(?P<bytes>(?:\.[0-9a-f]{2})+)")


def spelled(name: str) -> str:
    """Return the display that spells ``name``, which may be any text.

    A capital letter gets ``_`` before it, and a space becomes ``-``. Any other character becomes its UTF-8 bytes, each
    as ``.`` and two hexadecimal digits. Raises `InvalidRequestError` for text that the database cannot store.
    """
    if problem := json_text.problem_with(name):
        raise InvalidRequestError({"agent_name": problem})
    return f"{''.join(map(_escaped, name))}@{HOST}"


def name_of(display: str) -> str:
    """Return the name that an inbox shows: a spelled name as text, the local part at ``local``, else the display."""
    local, _, host = display.partition("@")
    if host == HOST and (name := _read(local)) is not None and spelled(name) == display:
        return name
    return display.removesuffix(_LOCAL)


def _escaped(letter: str) -> str:
    if letter in _PLAIN:
        return letter
    if letter == " ":
        return "-"
    if letter in string.ascii_uppercase:
        return f"_{letter.lower()}"
    return "".join(f".{byte:02x}" for byte in letter.encode())


def _read(local: str) -> str | None:
    """Return the text that ``local`` spells; None for text that is no spelling."""
    pieces = list(_PIECE.finditer(local))
    if "".join(piece.group() for piece in pieces) != local:
        return None
    try:
        return "".join(map(_text, pieces))
    except UnicodeDecodeError:
        return None


def _text(piece: re.Match[str]) -> str:
    if piece["bytes"]:
        return bytes.fromhex(piece["bytes"].replace(".", "")).decode()
    if piece["capital"]:
        return piece["capital"].upper()
    return " " if piece["space"] else piece["plain"]
