"""Parts of the official A2A protocol, as content blocks and back. Parts are 1.0 JSON in camelCase.

Each part has a block, and each block has a part. The part of a part's block is the part itself, but for empty values.
Source: A2A 1.0, "Part"; Model Context Protocol 2025-06-18, "Tool result".
"""

import base64
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from mailbox.words import json_text

ATTACHMENT = "attachment:"  # begins the URI of a file that came in a message and has no address
NO_TEXT = "(no text)"  # the text of parts that have no text, no data and no files
NO_NAME = "file"
JSON = "application/json"
# Levels of arrays and objects that the official Python SDK reads at every place. Its protobuf reads 100 messages within
# each other. Each level takes two, and data in the status of a listed task begin at the sixth.
DEEPEST = 47
_MEDIA = ("image", "audio")  # the families of media types with a block type of their own
_TO_STANDARD = str.maketrans("-_", "+/")
_MOST_BITS = 1023  # of an integer that is surely within the range of a double


def blocks_of(parts: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return one content block for each part. A part of no known form becomes a json block of the whole part."""
    return [_block(part) or {"type": "json", "value": dict(part)} for part in parts]


def parts_of(blocks: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return one part for each content block.

    The keys of a block that no part has are in the part's metadata, unless the block's own metadata has such a key. A
    block of no known form becomes a data part of the whole block. A file whose data is not base64 does too, and a block
    whose media type or name is not text.

    Data deeper than `DEEPEST` becomes a text part of its JSON. The media type is the block's own, else `JSON`.
    """
    return [_readable(_part(block) or {"data": dict(block)}) for block in blocks]


def readable(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return metadata that every client can read.

    One value that the official Python SDK cannot read would hide the whole task from its clients. So a value that
    nests deeper than `DEEPEST`, the metadata included, is shown as the text of its JSON. An integer beyond a double is
    shown as text too.
    """
    return {
        key: json_text.dumps(value) if json_text.is_deeper(value, DEEPEST - 1) else _within_range(value)
        for key, value in metadata.items()
    }


def _within_range(value: Any) -> Any:
    """Return a JSON value with text for each integer beyond a double, which the protocol cannot carry as a number."""
    match value:
        case int() if value.bit_length() > _MOST_BITS:
            return str(value)
        case Mapping():
            return {key: _within_range(item) for key, item in value.items()}
        case list():
            return [_within_range(item) for item in value]
    return value


def text_of_parts(parts: Sequence[Mapping[str, Any]]) -> str:
    """Return the parts as text that is not blank.

    It is the text parts, joined by newlines. Without text it is the JSON of the data parts, else the files' names.
    """
    texts = "\n".join(part["text"] for part in parts if "text" in part)
    data = "\n".join(json_text.dumps(part["data"]) for part in parts if "data" in part)
    names = "\n".join(_name(part) for part in parts if "raw" in part or "url" in part)
    return next((text for text in (texts, data, names) if text.strip()), NO_TEXT)


def admits(modes: Iterable[str], media_type: str) -> bool:
    """Return whether a mode of a card matches the media type. ``*/*`` and ``x/*`` match many, no type matches all."""
    essence = _essence(media_type)
    accepted = {"*/*", f"{essence.partition('/')[0]}/*", essence}
    return not essence or any(_essence(mode) in accepted for mode in modes)


def standard_base64(text: str) -> str:
    """Return base64 of either alphabet, with or without padding, in the standard alphabet with padding.

    Raises ValueError for other text.
    """
    bare = text.rstrip("=")
    padded = bare + "=" * (-len(bare) % 4)
    if text not in (bare, padded):
        raise ValueError("must be base64")
    try:
        decoded = base64.b64decode(padded.translate(_TO_STANDARD), validate=True)
    except ValueError as error:
        raise ValueError("must be base64") from error
    return base64.b64encode(decoded).decode()


def _readable(part: dict[str, Any]) -> dict[str, Any]:
    """Return a part that every client can read, as in `readable`."""
    if "metadata" in part:
        part = {**part, "metadata": readable(part["metadata"])}
    if "data" not in part:
        return part
    data = part["data"]
    if not json_text.is_deeper(data, DEEPEST):
        return {**part, "data": _within_range(data)}
    beside = {name: part[name] for name in part if name != "data"}
    return {"text": json_text.dumps(data), "mediaType": JSON, **beside}


def _block(part: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the block of a part; None for a part of no known form."""
    media_type, filename = part.get("mediaType") or "", part.get("filename") or ""
    if not isinstance(media_type, str) or not isinstance(filename, str):
        return None
    typed = {"mediaType": media_type} if media_type else {}
    mime = {"mimeType": media_type} if media_type else {}
    beside = {name: part[name] for name in ("filename", "metadata") if part.get(name)}
    match part:
        case {"text": str(text)}:
            return {"type": "text", "text": text, **typed, **beside}
        case {"url": str(url)}:
            return {"type": "resource_link", "uri": url, "name": filename or url, **mime, **beside}
        case {"raw": str(raw)} if (data := _base64_or_none(raw)) is not None:
            return {**_file(data, media_type, mime, filename), **beside}
        case {"data": value}:
            return {"type": "json", "value": value, **typed, **beside}
    return None


def _file(data: str, media_type: str, mime: Mapping[str, str], filename: str) -> dict[str, Any]:
    family, slash, _ = media_type.lower().partition("/")
    if slash and family in _MEDIA:
        return {"type": family, "data": data, **mime}
    return {"type": "resource", "resource": {"uri": f"{ATTACHMENT}{quote(filename)}", "blob": data, **mime}}


def _part(block: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the part of a block; None for a block of no known form."""
    rest = dict(block)
    match rest.pop("type", None):
        case "text" if isinstance(rest.get("text"), str):
            return _whole({"text": rest.pop("text")}, rest, media_type_in="mediaType")
        case "json" if "value" in rest:
            return _whole({"data": rest.pop("value")}, rest, media_type_in="mediaType")
        case "image" | "audio" if (raw := _base64_or_none(rest.pop("data", None))) is not None:
            return _whole({"raw": raw}, rest)
        case "resource" if isinstance(rest.get("resource"), Mapping):
            return _part_of_resource(rest.pop("resource"), rest)
        case "resource_link" if isinstance(rest.get("uri"), str):
            return _part_of_link(rest)
    return None


def _part_of_resource(resource: Mapping[str, Any], rest: dict[str, Any]) -> dict[str, Any] | None:
    inner = dict(resource)
    if str(inner.get("uri", "")).startswith(ATTACHMENT):
        del inner["uri"]
    if isinstance(inner.get("text"), str):
        return _whole({"text": inner.pop("text")}, {**inner, **rest})
    if (raw := _base64_or_none(inner.pop("blob", None))) is not None:
        return _whole({"raw": raw}, {**inner, **rest})
    return None


def _part_of_link(rest: dict[str, Any]) -> dict[str, Any] | None:
    uri, name = rest.pop("uri"), rest.pop("name", None)
    if not isinstance(name, str | None):
        return None
    if not rest.get("filename") and name != uri:
        rest["filename"] = name
    return _whole({"url": uri}, rest)


def _whole(part: dict[str, Any], rest: dict[str, Any], *, media_type_in: str = "mimeType") -> dict[str, Any] | None:
    """Return ``part`` with its media type, filename and metadata, from the keys of its block that are left.

    None: the media type or the filename is not text.
    """
    for name, key in (("mediaType", media_type_in), ("filename", "filename")):
        if (text := rest.pop(key, None)) is not None and not isinstance(text, str):
            return None
        part |= {name: text} if text else {}
    metadata = rest.pop("metadata") if isinstance(rest.get("metadata"), Mapping) else {}
    unplaced = {key: value for key, value in rest.items() if value is not None}
    return {**part, "metadata": {**unplaced, **metadata}} if unplaced or metadata else part


def _base64_or_none(text: object) -> str | None:
    """Return the text in standard base64, without its line breaks; None if it is not base64."""
    try:
        return standard_base64("".join(text.split())) if isinstance(text, str) else None
    except ValueError:
        return None


def _name(part: Mapping[str, Any]) -> str:
    names = (str(part.get(key) or "") for key in ("filename", "url", "mediaType"))
    return next((name for name in names if name.strip()), NO_NAME)


def _essence(media_type: str) -> str:
    return media_type.partition(";")[0].strip().lower()
