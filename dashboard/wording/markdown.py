"""Markdown of strangers as HTML: no raw HTML, nothing that a browser loads, and links that only lead to the web."""

from __future__ import annotations

import re
from collections.abc import Sequence

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

MOST = 16 * 1024  # characters of a text, and of all texts of a page that are Markdown by their declared type
CELLS = 8_000  # the lines of a text, times the columns of its widest table
_TYPES = ("text/markdown", "text/x-markdown")
_SIGNS = re.compile(r"^ {0,3}(?:#{1,6} |[-*+] |\d{1,9}[.)] |> |```|~~~|\|)|\*\*\w|`\w|\]\(", re.MULTILINE)
_TO_THE_WEB = re.compile(r"(?:https?://|mailto:)\S", re.IGNORECASE)
_KEPT = {"a": "href", "ol": "start"}  # a cell's alignment would be an inline style


def is_declared(media_type: object) -> bool:
    return isinstance(media_type, str) and media_type.partition(";")[0].strip().lower() in _TYPES


def has_signs(text: str) -> bool:
    """Whether the text looks like Markdown."""
    return _SIGNS.search(text) is not None


def is_short(text: str) -> bool:
    """Whether the text may be rendered. The time for some texts grows with the square of their length."""
    lines = text.split("\n")
    return len(text) <= MOST and len(lines) * max(line.count("|") for line in lines) <= CELLS


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


_LINK_CLOSE = Token("link_close", "a", -1)
_PARSER = _Parser("commonmark", {"html": False}, renderer_cls=_Renderer)
_PARSER.enable(["table", "strikethrough"]).disable(["html_block", "html_inline"])
