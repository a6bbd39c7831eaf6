"""Markdown of strangers: what of it becomes HTML, and how little of it may harm."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.wording import payload
from dashboard.wording.payload import MOST_RENDERED, has_signs, is_short, rendered

TAGS = frozenset(
    [
        *("a", "b", "blockquote", "br", "code", "em", "hr", "li", "ol", "p", "pre", "s", "strong", "ul"),
        *("table", "tbody", "td", "th", "thead", "tr"),
    ]
)
OPENING = re.compile(r"<([a-z0-9]+)((?: [a-z]+=\"[^\"<>]*\")*)(?: /)?>")
ATTRIBUTES = re.compile(r' (?:href="(?:https?://|mailto:)[^"]+"|rel="noopener noreferrer nofollow"|start="\d+")')
PRE = ' tabindex="0" class="payload" dir="auto"'


def faults(html):
    """Return each beginning of a tag that is no closing tag, and no known tag with kept attributes alone."""
    found = []
    for one in re.finditer(r"<(?!/[a-z0-9]+>)[^>]*>?", html):
        tag = OPENING.fullmatch(one[0])
        if tag is None or tag[1] not in TAGS or (ATTRIBUTES.sub("", tag[2]) and tag[2] != PRE):
            found.append(one[0])
    return found


def test_blocks_and_words_become_html():
    text = "# Plan\n\n3. *one*\n4. **two**\n\n> said\n\n| a | b |\n|:-:|---|\n| 1 | 2 |\n\n```js\nx < 1\n```\n"

    html = rendered(text)

    assert faults(html) == []
    for part in (
        "<p><b>Plan</b></p>",
        '<ol start="3">\n<li><em>one</em></li>',
        "<strong>two</strong>",
        "<blockquote>\n<p>said</p>",
        "<th>a</th>",
        "<td>2</td>",
        f"<pre{PRE}><code>x &lt; 1\n</code></pre>",
    ):
        assert part in html


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "a <img src=x onerror=alert(1)> b",
        "<style>@import 'http://a.example'</style>\n",
        "<!-- --><b onclick=alert(1)>x</b>",
        '```" onclick="alert(1)\n</code></pre><script>alert(1)</script>\n```',
        '[a](http://a.example/"onclick="alert(1) "title\\"><script>")',
        "|a|\n|:-:|\n|<td style='x'>|",
        "[a]: http://a.example/'\"><script>\n\n[a]",
    ],
)
def test_raw_html_and_attributes_never_pass(text):
    html = rendered(text)

    assert faults(html) == []
    assert "style=" not in re.sub(r">[^<]*<", "><", html)


@pytest.mark.parametrize(
    "target",
    [
        *("javascript:alert(1)", "JaVaScript:alert(1)", "java&#115;cript:alert(1)", "&#x6A;avascript:alert(1)"),
        *("data:text/html,x", "data:image/png;base64,AA", "vbscript:x", "file:///etc/passwd", "ftp://a.example"),
        *("/ops/settings/", "//a.example/x", "?show=1", "#state", "\\\\a.example", "tel:1", "http:", "%6Aavascript:x"),
    ],
)
def test_links_lead_to_the_web_or_to_mail_alone(target):
    for text in (f"[a]({target})", f"![a]({target})", f"<{target}>", f"[a][b]\n\n[b]: {target}"):
        assert "<a" not in rendered(text), text


def test_a_link_tells_its_target_nothing_of_the_hub():
    html = rendered("[a](https://a.example/x) <me@a.example> [](http://a.example)")

    rel = 'rel="noopener noreferrer nofollow"'
    assert f'<a href="https://a.example/x" {rel}>a</a>' in html
    assert f'<a href="mailto:me@a.example" {rel}>me@a.example</a>' in html
    assert f'<a href="http://a.example" {rel}>http://a.example</a>' in html


def test_an_image_is_a_link_and_within_a_link_its_words():
    html = rendered(
        "![a *plan*](http://a.example/a.png) ![](http://b.example) [![badge](http://c.example)](http://d.example)"
    )

    assert "<img" not in html
    assert re.findall(r'<a href="([^"]+)"[^>]*>([^<]*)</a>', html) == [
        ("http://a.example/a.png", "a plan"),
        ("http://b.example", "http://b.example"),
        ("http://d.example", "badge"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"{'  ' * depth}- a\n" for depth in range(1_000)),
        "- " * 1_000,
        "> " * 1_000 + "a",
        "[" * 8_000,
        "![" * 8_000,
        "*a_" * 5_000,
        "[a](" * 4_000,
        "<" * MOST_RENDERED,
    ],
    ids=["lists", "one line of lists", "quotes", "brackets", "images", "emphasis", "links", "angles"],
)
def test_deep_nesting_is_rendered_without_an_error(text):
    assert faults(rendered(text[:MOST_RENDERED])) == []


@pytest.mark.parametrize(
    "text", ["a" * 2**20, "a" * (MOST_RENDERED + 1), "|a" * 100 + "\n" + "|-" * 100 + "\n" + "a\n" * 100]
)
def test_a_long_text_and_a_vast_table_are_not_short(text):
    assert not is_short(text)
    assert is_short(text[:100])


@given(st.text(st.sampled_from("ab \n\t#*_`~[]()!<>|-:&;\"'\\/0x1.http://\x00\u202e"), max_size=300))
def test_no_text_breaks_the_renderer_or_passes_a_tag(text):
    assert faults(rendered(text)) == []


@pytest.mark.parametrize("text", ["# a", "x\n- a", "1. a", "**a**", "use `a`", "[a](http://a.example)", "|a|b|", "```"])
def test_words_with_signs_of_markdown_offer_a_preview(text):
    assert has_signs(text)


@pytest.mark.parametrize("text", ["", "Find a hotel.", "2 * 3", "#4711", "a - b", "-5", "[x]", "it costs 3.5"])
def test_other_words_offer_none(text):
    assert not has_signs(text)


@pytest.mark.parametrize(
    ("media_type", "is_declared"),
    [
        *(("text/markdown", True), ("Text/Markdown; charset=utf-8", True), ("text/x-markdown", True)),
        *(("text/plain", False), ("", False), (None, False), (["text/markdown"], False)),
    ],
)
def test_a_media_type_declares_markdown(media_type, is_declared):
    assert payload.is_declared(media_type) is is_declared
