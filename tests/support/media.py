"""Pictures and sounds for tests, as content blocks."""

import base64
import io
import math
import struct
import wave
import zlib
from typing import Any


def picture(width: int = 8, height: int = 8, **fields: Any) -> dict[str, Any]:
    """Return a block of a PNG: a plan of rooms with walls between them."""
    rows = b"".join(b"\0" + b"".join(_pixel(x, y, width, height) for x in range(width)) for y in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", head) + _chunk(b"IDAT", zlib.compress(rows)) + _chunk(b"IEND", b"")
    return {"type": "image", "data": base64.b64encode(data).decode(), "mimeType": "image/png", **fields}


def sound(seconds: float = 0.1, **fields: Any) -> dict[str, Any]:
    """Return a block of a WAV: one tone."""
    rate, file = 8000, io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setparams((1, 2, rate, 0, "NONE", ""))
        tones = (round(9000 * math.sin(at / rate * 2 * math.pi * 440)) for at in range(int(rate * seconds)))
        writer.writeframes(b"".join(struct.pack("<h", tone) for tone in tones))
    return {"type": "audio", "data": base64.b64encode(file.getvalue()).decode(), "mimeType": "audio/wav", **fields}


def _pixel(x: int, y: int, width: int, height: int) -> bytes:
    is_wall = min(x % (width // 4 or 1), y % (height // 2 or 1)) < max(1, width // 120)
    return b"\x2a\x32\x3c" if is_wall else bytes((200 + 40 * x // width, 215, 240 - 60 * y // height))


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
