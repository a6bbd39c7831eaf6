"""The rules of accessibility, to which tests hold pages in a browser."""

from __future__ import annotations

from pathlib import Path

import axe_playwright_python

NARROW = (390, 320)
WIDE = 1440

SCRIPT = Path(axe_playwright_python.__file__).parent / "axe.min.js"
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
CONTRAST = "color-contrast"
CHECK = """options => axe.run(document, {...options, resultTypes: ['violations'], preload: false})
  .then(found => found.violations)"""
FITS = "document.documentElement.scrollWidth <= innerWidth"
SHAPE = """() => [...document.querySelectorAll('*')].map(one => [one.tagName, !one.textContent.trim(),
  ...[...one.attributes].filter(({name}) => /^(class|id|role|type|disabled|tabindex|aria-.*)$/.test(name))
    .map(({name, value}) => `${name}=${value}`)].join(' ')).join('\\n')"""


def violations(page, *, contrast=True):
    """Return which rules a page breaks, and where; ``contrast``, which takes the longest to check, is one of them."""
    return _check(page, {"runOnly": {"type": "tag", "values": TAGS}, "rules": {CONTRAST: {"enabled": contrast}}})


def violations_in_the_dark(page):
    """Switch a page to the dark theme; return where its contrast is too low."""
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    return _check(page, {"runOnly": [CONTRAST]})


def look(page, path, *, like=None, in_the_dark=True):
    """Open a light page and hold it to the rules and to the window; return the shape of its elements.

    Contrast is checked wide, in both themes unless not ``in_the_dark``; every other rule wide and at the narrowest.
    The rules are skipped where the shape is ``like``, a page that was checked: the same elements break the same rules.
    """
    page.set_viewport_size({"width": WIDE, "height": 900})
    page.goto(path)
    shape = page.evaluate(SHAPE)
    assert page.evaluate(FITS), (path, WIDE)
    if shape != like:
        assert violations(page) == [], (path, WIDE)
        if in_the_dark:
            assert violations_in_the_dark(page) == [], path
    for width in NARROW:
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(FITS), (path, width)
    if shape != like:
        assert violations(page, contrast=False) == [], (path, width)
    return shape


def _check(page, options):
    if not page.evaluate("'axe' in window"):
        page.evaluate(SCRIPT.read_text())
    found = page.evaluate(CHECK, options)
    return [(one["id"], [node["target"] for node in one["nodes"]][:3]) for one in found]
