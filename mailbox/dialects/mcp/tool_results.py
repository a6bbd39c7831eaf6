"""The results of tools: the structured answer, its text, and its pictures and sounds. Source: MCP, "Tool result"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mailbox.dialects.base.bodies import encoded
from mailbox.dialects.mcp.errors import details
from mailbox.words import errors
from mailbox.words.errors import MailboxError

ERROR_KEY = "a2a-hub/error"  # of ``_meta``
_MEDIA = ("image", "audio")

Json = dict[str, Any]


def done(answer: Json) -> Json:
    """Return the result of a tool that answered. Its text shows no picture or sound, which are blocks of their own."""
    text = encoded(_without_media(answer)).decode()
    return {"content": [{"type": "text", "text": text}, *_media_in(answer)], "structuredContent": answer}


def failed(error: MailboxError) -> Json:
    """Return the result of a tool that the hub refused: the code and the sentence."""
    text = f"{error.code}: {errors.text_for_program(error)}"
    return {"content": [{"type": "text", "text": text}], "isError": True, "_meta": {ERROR_KEY: details(error)}}


def _is_media(value: Json) -> bool:
    fields = (value.get("data"), value.get("mimeType"))
    return value.get("type") in _MEDIA and all(isinstance(field, str) for field in fields)


def _media_in(value: Any) -> Iterator[Json]:
    if isinstance(value, dict) and _is_media(value):
        yield {name: value[name] for name in ("type", "data", "mimeType")}
    elif isinstance(value, dict):
        for part in value.values():
            yield from _media_in(part)
    elif isinstance(value, list):
        for part in value:
            yield from _media_in(part)


def _without_media(value: Any) -> Any:
    if isinstance(value, dict) and _is_media(value):
        return {**value, "data": "[below]"}
    if isinstance(value, dict):
        return {key: _without_media(part) for key, part in value.items()}
    return [_without_media(part) for part in value] if isinstance(value, list) else value
