"""The payloads of tasks, messages, artifacts and results in parts: text as text, exact JSON and its tree, files.

People never see the JSON values of names in ``A2A_REDACTED_FIELDS``. A browser shows Markdown without raw HTML, and
pictures and sounds that are known by the first bytes of their data.

A declared media type is a word of a stranger, so it decides only between picture, sound and neither. Pictures that can
hold scripts, such as SVG, are not among them.
"""

import base64
import binascii
import json
import math
import mimetypes
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from dashboard.wording import json_tree
from mailbox.words import conversation, json_text, redaction

MOST_RENDERED = 16 * 1024  # characters of a text, and of all texts of a page that are Markdown by their declared type
CELLS = 8_000  # the lines of a text, times the columns of its widest table
_TYPES = ("text/markdown", "text/x-markdown")
_SIGNS = re.compile(r"^ {0,3}(?:#{1,6} |[-*+] |\d{1,9}[.)] |> |```|~~~|\|)|\*\*\w|`\w|\]\(", re.MULTILINE)
_TO_THE_WEB = re.compile(r"(?:https?://|mailto:)\S", re.IGNORECASE)
_KEPT = {"a": "href", "ol": "start"}  # a cell's alignment would be an inline style
_LINK_CLOSE = Token("link_close", "a", -1)
PICTURE, SOUND = "image", "audio"  # the families of media types
LARGEST = 8 * 2**20  # bytes of a picture or a sound that a page shows
# Types whose data begin with RIFF and a length of four bytes.
_RIFF = {b"WEBP": "image/webp", b"WAVE": "audio/wav"}
SHOWN = 64 * 1024  # characters of a task's payload, and of its result's; a link leads to the rest
BLOCKS_SHOWN = 50
OPEN = 4_000  # characters of a text that is open at first
BRIEF, LINES = 1_000, 16  # characters and lines of words that are open at first


def is_declared(media_type: object) -> bool:
    return isinstance(media_type, str) and media_type.partition(";")[0].strip().lower() in _TYPES


def has_signs(text: str) -> bool:
    """Whether the text looks like Markdown."""
    return _SIGNS.search(text) is not None


def is_short(text: str) -> bool:
    """Whether the text may be rendered. The time for some texts grows with the square of their length."""
    lines = text.split("\n")
    return len(text) <= MOST_RENDERED and len(lines) * max(line.count("|") for line in lines) <= CELLS


def rendered(text: str) -> SafeString:
    """Return the HTML of a short text. An image becomes a link, and a heading a bold paragraph."""
    html: SafeString = mark_safe(_PARSER.render(text))  # noqa: S308 (_Renderer escapes text and keeps two attributes)
    return html


class _Parser(MarkdownIt):
    def validateLink(self, url: str) -> bool:  # noqa: N802 (the name is the library's)
        return _TO_THE_WEB.match(url) is not None


class _Renderer(RendererHTML):
    def renderToken(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:  # noqa: N802
        token = tokens[idx]
        token.attrs = {name: value for name, value in token.attrs.items() if name == _KEPT.get(token.tag)}
        match token.type:
            case "heading_open":
                return "<p><b>"
            case "heading_close":
                return "</b></p>\n"
            case "link_open":
                token.attrs["rel"] = "noopener noreferrer nofollow"
            case "link_close" if tokens[idx - 1].type == "link_open":
                return f"{escape(tokens[idx - 1].attrs['href'])}</a>"
        return super().renderToken(tokens, idx, options, env)

    def image(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        token = tokens[idx]
        source = str(token.attrs["src"])
        words = self.renderInlineAsText(token.children, options, env) or source
        around = next((one for one in reversed(tokens[:idx]) if one.type.startswith("link_")), None)
        if around is not None and around.type == "link_open":
            return escape(words)
        link = [Token("link_open", "a", 1, {"href": source}), Token("text", "", 0, content=words), _LINK_CLOSE]
        return self.renderInline(link, options, env)

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return f'<pre tabindex="0" class="payload" dir="auto"><code>{escape(tokens[idx].content)}</code></pre>\n'

    code_block = fence


_PARSER = _Parser("commonmark", {"html": False}, renderer_cls=_Renderer)
_PARSER.enable(["table", "strikethrough"]).disable(["html_block", "html_inline"])


_BEGINNINGS: Mapping[str, tuple[bytes, ...]] = {
    "image/png": (b"\x89PNG\r\n\x1a\n",),
    "image/jpeg": (b"\xff\xd8\xff",),
    "image/gif": (b"GIF87a", b"GIF89a"),
    "audio/mpeg": (b"ID3", b"\xff\xfb", b"\xff\xf3", b"\xff\xf2"),
    "audio/ogg": (b"OggS",),
    "audio/flac": (b"fLaC",),
}


def shown_type(data: bytes, declared: str) -> str:
    """Return the media type that these bytes have, "" unless a browser may show them as what they were declared."""
    family = declared.partition("/")[0].strip().lower()
    actual = _type_of(data[:16])
    is_safe = family in (PICTURE, SOUND) and actual.startswith(f"{family}/") and len(data) <= LARGEST
    return actual if is_safe else ""


def _type_of(head: bytes) -> str:
    if head.startswith(b"RIFF"):
        return _RIFF.get(head[8:12], "")
    return next((name for name, beginnings in _BEGINNINGS.items() if head.startswith(beginnings)), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a payload. ``name`` is its address below the task.

    ``text`` is None for a file, which has ``size`` bytes. ``media_type`` is "" unless a browser may show the file.
    ``tree`` is that of a JSON object or array, else None. ``share`` is the progress in per cent, None for another part.
    ``is_markdown`` is whether its declared type says so.
    """

    name: str
    title: str
    text: str | None
    size: int
    is_cut: bool = False
    media_type: str = ""
    tree: json_tree.JsonNode | None = None
    share: int | None = None
    is_markdown: bool = False

    @property
    def is_picture(self) -> bool:
        return self.media_type.startswith(PICTURE)

    @property
    def is_long(self) -> bool:
        """Whether its text is folded at first."""
        return len(self.text or "") > OPEN

    @property
    def is_words(self) -> bool:
        """Whether it is a plain text, which reads as running words."""
        return self.title in ("Text", "Intent")

    @property
    def has_preview(self) -> bool:
        """Whether it can be shown as Markdown: by its declared type, or as words that look like it."""
        text = self.text or ""
        return (self.is_markdown or (self.is_words and has_signs(text))) and is_short(text)

    @property
    def is_long_for_words(self) -> bool:
        """Whether these words are folded at first among others."""
        text = self.text or ""
        return len(text) > BRIEF or text.count("\n") >= LINES


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A part as a file to download. ``media_type`` is "" unless it is a picture or a sound that a browser may show."""

    content: bytes
    content_type: str
    name: str
    media_type: str = ""

    @property
    def is_shown(self) -> bool:
        """Whether a browser may show the file in place. Plain text and JSON run no code."""
        return self.content_type.startswith(("text/plain", "application/json"))

    @property
    def is_picture(self) -> bool:
        return self.media_type.startswith(PICTURE)


def pretty(value: Any) -> str:
    """Return a JSON value on many lines, its secrets hidden. A value too long to read stays on one line."""
    hidden = redaction.fields(value, settings.A2A_REDACTED_FIELDS)
    compact = json_text.dumps(hidden)
    return compact if len(compact) > 4 * SHOWN else json.dumps(hidden, indent=2, ensure_ascii=False)


def of_task(intent_text: str, metadata: str) -> list[Part]:
    """Return the parts of a task: its intent, and its metadata if it has any."""
    wholes = [("intent", "Intent", intent_text)]
    if metadata != "{}":
        wholes.append(("metadata", "Metadata", pretty(json_text.loads(metadata))))
    parts = [Part(name=name, title=title, text=text, size=len(text)) for name, title, text in wholes]
    shown = [shown for part in parts for shown in _shown([part])]
    return [part if part.name == "intent" else _with_tree(part, json_text.loads(metadata))[0] for part in shown]


def of_blocks(blocks: Sequence[Mapping[str, Any]], *, of: str = "", characters: int = SHOWN) -> list[Part]:
    """Return the parts of some content, one for each of its first blocks, with ``characters`` of text in all.

    ``of`` is the beginning of their names, "" for the result's content.
    """
    parts = _shown([_part(f"{of}{number}", block) for number, block in enumerate(blocks[:BLOCKS_SHOWN])], characters)
    with_trees, room = [], min(characters, json_tree.MOST)
    for part, block in zip(parts, blocks, strict=False):
        if block["type"] == "json":
            part, room = _with_tree(part, block["value"], room)
        with_trees.append(part)
    return with_trees


def file_of(block: Mapping[str, Any], name: str) -> File:
    """Return a block as a file. Its declared type decides only the ending of the name."""
    part = _part("", block)
    if part.text is not None:
        is_json = block["type"] == "json"
        return json_file(block["value"], f"{name}.json") if is_json else text_file(part.text, f"{name}.txt")
    data, mime = _bytes(block)
    return File(
        content=data,
        content_type="application/octet-stream",
        name=f"{name}{mimetypes.guess_extension(mime) or '.bin'}",
        media_type=part.media_type,
    )


def text_file(text: str, name: str) -> File:
    return File(content=text.encode(), content_type="text/plain; charset=utf-8", name=name)


def json_file(value: Any, name: str) -> File:
    return File(content=pretty(value).encode(), content_type="application/json; charset=utf-8", name=name)


def _part(name: str, block: Mapping[str, Any]) -> Part:
    declared: Any = ""
    match block["type"]:
        case "text":
            title, text, declared = "Text", str(block["text"]), block.get("mediaType")
        case "json":
            title, text = "JSON", pretty(block["value"])
        case kind if kind == conversation.PROGRESS:
            share = math.floor(round(block["value"] * 100, 6))
            text = ": ".join(filter(None, [f"{share} %" if share or not block["note"] else "", block["note"]]))
            return Part(name=name, title="Progress", text=text, size=len(text), share=share)
        case "resource_link":
            title, text = f"Link: {block['name']}", str(block["uri"])
        case "resource" if isinstance(block["resource"].get("text"), str):
            title, text = f"Resource: {block['resource'].get('uri', '')}", block["resource"]["text"]
            declared = block["resource"].get("mimeType")
        case kind:
            data, mime = _bytes(block)
            filename = f"{block['filename']}, " if isinstance(block.get("filename"), str) else ""
            title, shown_as = f"{kind.capitalize()}: {filename}{mime}", shown_type(data, mime)
            return Part(name=name, title=title, text=None, size=len(data), media_type=shown_as)
    return Part(name=name, title=title, text=text, size=len(text), is_markdown=is_declared(declared))


def _with_tree(part: Part, value: Any, room: int = json_tree.MOST) -> tuple[Part, int]:
    """Return the part of a JSON value with its tree, and the room that is left. Secrets are hidden in it."""
    tree, room = json_tree.tree_of(redaction.fields(value, settings.A2A_REDACTED_FIELDS), room)
    return replace(part, tree=tree), room


def _bytes(block: Mapping[str, Any]) -> tuple[bytes, str]:
    """Return the bytes of a file block and its declared type. Invalid base64 counts as plain text."""
    inner = block["resource"] if block["type"] == "resource" else block
    text = str(inner.get("blob" if block["type"] == "resource" else "data", ""))
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        data = text.encode()
    return data, str(inner.get("mimeType") or "of no type")


def _shown(parts: Sequence[Part], characters: int = SHOWN) -> list[Part]:
    """Cut the parts to ``characters`` in all."""
    shown, left = [], characters
    for part in parts:
        text = part.text
        if text is not None:
            head = text[:left]
            left -= len(head)
            part = replace(part, text=head, is_cut=len(head) < len(text))
        shown.append(part)
    return shown
