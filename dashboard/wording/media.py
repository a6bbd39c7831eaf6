"""Pictures and sounds that a browser may show, known by the first bytes of their data.

A declared media type is a word of a stranger, so it decides only between picture, sound and neither. Pictures that can
hold scripts, such as SVG, are not among them.
"""

from __future__ import annotations

from collections.abc import Mapping

PICTURE, SOUND = "image", "audio"  # the families of media types
LARGEST = 8 * 2**20  # bytes of a picture or a sound that a page shows
_BEGINNINGS: Mapping[str, tuple[bytes, ...]] = {
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/gif": (b"GIF87a", b"GIF89a"),
    "audio/mpeg": (b"ID3", b"\xff\xfb", b"\xff\xf3", b"\xff\xf2"),
    "audio/ogg": (b"OggS",),
    "audio/flac": (b"fLaC",),
}
# Types whose data begin with RIFF and a length of four bytes.
_RIFF = {b"WEBP": "image/webp", b"WAVE": "audio/wav"}


def shown_type(data: bytes, declared: str) -> str:
    """Return the media type that these bytes have, "" unless a browser may show them as what they were declared."""
    family = declared.partition("/")[0].strip().lower()
    found = _type_of(data[:16])
    is_safe = family in (PICTURE, SOUND) and found.startswith(f"{family}/") and len(data) <= LARGEST
    return found if is_safe else ""


def _type_of(head: bytes) -> str:
    if head.startswith(b"RIFF"):
        return _RIFF.get(head[8:12], "")
    return next((name for name, beginnings in _BEGINNINGS.items() if head.startswith(beginnings)), "")
