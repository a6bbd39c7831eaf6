from __future__ import annotations

import gzip
import re
from pathlib import Path

import django_htmx
import pytest

from dashboard.base import frame

ROOT = Path(__file__).resolve().parents[3]
STATIC = ROOT / "dashboard" / "static" / "ops"
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
FORBIDDEN = {
    "an inline style": re.compile(r"\sstyle\s*="),
    "an inline handler": re.compile(r"<[^>]*\son[a-z]+=[\"']"),
    "hx-on": re.compile(r"hx-on"),
    "a script value": re.compile(r"\bjs(on)?:|javascript:"),
    "a trigger filter": re.compile(r'hx-trigger="[^"]*\['),
    "an inline script": re.compile(r"<script(?![^>]*\ssrc=)"),
    "a style element": re.compile(r"<style"),
    "unescaped text": re.compile(r"\|safe\b|autoescape off"),
}
BACKGROUNDS = {
    "light": {"bg": "#f6f7f9", "panel": "#ffffff"},
    "dark": {"bg": "#0f1318", "panel": "#161b22"},
}


def gzipped_size(path):
    return len(gzip.compress(path.read_bytes()))


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_no_template_contains_what_the_security_policy_forbids(template):
    text = template.read_text()

    assert [what for what, pattern in FORBIDDEN.items() if pattern.search(text)] == []


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_every_post_form_carries_a_csrf_token(template):
    text = template.read_text()

    assert len(re.findall(r'method="post"', text)) == text.count("{% csrf_token %}")


def test_style_sheets_and_scripts_keep_their_size_limit():
    htmx = Path(django_htmx.__file__).parent / "static" / "django_htmx" / "htmx-2.min.js"

    assert sum(gzipped_size(file) for file in [htmx, *STATIC.glob("*.js"), *STATIC.glob("*.css")]) <= 40 * 1024


def test_each_line_of_a_style_sheet_holds_one_declaration():
    lines = [line for sheet in STATIC.glob("*.css") for line in sheet.read_text().splitlines()]
    forms = re.compile(r" *(|[^{};]+ {|}|[^{};]+,|[^{};]+;|/\*.*\*/)")

    assert [line for line in lines if len(line) > 120 or not forms.fullmatch(line)] == []


def test_every_icon_exists_and_stands_beside_a_word():
    signs = set(re.findall(r'<symbol id="(\w+)"', (STATIC / "icons.svg").read_text()))
    used = {name for path in TEMPLATES for name in re.findall(r'{% icon "(\w+)" %}', path.read_text())}

    assert used | {place.route for place in frame.PLACES} <= signs
    assert [path.name for path in TEMPLATES if re.search(r"{% icon [^%]*%}\s*</", path.read_text())] == []


def luminance(colour):
    if len(colour) == 4:
        colour = "#" + "".join(digit * 2 for digit in colour[1:])
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first, second):
    high, low = sorted((luminance(first), luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("background", ["bg", "panel"])
@pytest.mark.parametrize("token", ["ink", "mut", "acc", "ok", "bad", "warn", "part"])
def test_text_contrast_is_at_least_6_in_both_themes(token, background):
    css = (STATIC / "ops.css").read_text()
    ((light, dark),) = re.findall(rf"--{token}: light-dark\((#\w+), (#\w+)\)", css)

    assert contrast(light, BACKGROUNDS["light"][background]) >= 6.0
    assert contrast(dark, BACKGROUNDS["dark"][background]) >= 6.0


@pytest.mark.parametrize("token", ["edge", "acc", "ok", "bad", "warn", "part"])
def test_controls_and_charts_have_a_contrast_of_at_least_3(token):
    css = (STATIC / "ops.css").read_text()
    ((light, dark),) = re.findall(rf"--{token}: light-dark\((#\w+), (#\w+)\)", css)

    for background in ("bg", "panel"):
        assert contrast(light, BACKGROUNDS["light"][background]) >= 3.0
        assert contrast(dark, BACKGROUNDS["dark"][background]) >= 3.0


@pytest.mark.parametrize(
    ("token", "background"), [("on-acc", "acc"), ("on-bad", "bad"), ("ink", "here"), ("warn", "here")]
)
def test_text_on_coloured_backgrounds_has_a_contrast_of_at_least_4_5(token, background):
    css = (STATIC / "ops.css").read_text()
    pairs = [re.findall(rf"--{name}: light-dark\((#\w+), (#\w+)\)", css)[0] for name in (token, background)]

    for text, behind in zip(*pairs, strict=True):
        assert contrast(text, behind) >= 4.5
