"""Content blocks: text, json, image, audio, resource, resource_link. All but json are those of MCP."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from mailbox.words import json_text

# The required keys of each block type, and the Python types of their values. None allows any JSON value.
# Source: Model Context Protocol 2025-06-18, "Tool result"; "json" is Covenant's own block.
REQUIRED: Mapping[str, Mapping[str, type | None]] = {
    "text": {"text": str},
    "json": {"value": None},
    "image": {"data": str, "mimeType": str},
    "audio": {"data": str, "mimeType": str},
    "resource": {"resource": dict},
    "resource_link": {"uri": str, "name": str},
}


def problems(blocks: Sequence[object]) -> Iterator[tuple[str, str]]:
    """Yield (path, problem) for each problem of a block. The path begins with ``content`` and the block's index."""
    for index, block in enumerate(blocks):
        path = f"content.{index}"
        if not isinstance(block, Mapping):
            yield path, "must be a JSON object"
            continue
        kind = block.get("type")
        if not isinstance(kind, str) or kind not in REQUIRED:
            yield f"{path}.type", f"unknown content block type; known types: {', '.join(REQUIRED)}"
            continue
        for key, wanted in REQUIRED[kind].items():
            if key not in block or (wanted is not None and not isinstance(block[key], wanted)):
                yield f"{path}.{key}", f"a {kind} block needs {key}" + (f" ({wanted.__name__})" if wanted else "")
        if problem := json_text.problem_in(dict(block), level=2):
            yield path, problem


def text_of(blocks: Sequence[Mapping[str, Any]]) -> str:
    """Return the text blocks joined by newlines; other blocks are left out."""
    return "\n".join(str(block["text"]) for block in blocks if block.get("type") == "text")


def joined(blocks: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yield the blocks, with bare texts that follow each other as one text: the chunks of a long text."""
    texts: list[str] = []
    for block in blocks:
        if block.keys() == {"type", "text"}:
            texts.append(block["text"])
            continue
        if texts:
            yield {"type": "text", "text": "".join(texts)}
            texts = []
        yield block
    if texts:
        yield {"type": "text", "text": "".join(texts)}
