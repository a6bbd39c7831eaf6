"""The rules of accessibility, to which tests hold pages in a browser."""

from __future__ import annotations

from pathlib import Path

import axe_playwright_python

NARROW = (390, 320)
WIDE = 1440

SCRIPT = Path(axe_playwright_python.__file__).parent / "axe.min.js"
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
CONTRAST = "color-contrast"
CHECK = """([options, only]) => {
  const all = document.querySelectorAll('*'), context = only ? {include: only.map(index => all[index])} : document;
  return axe.run(context, {...options, resultTypes: ['violations'], preload: false}).then(found => found.violations);
}"""
FITS = "document.documentElement.scrollWidth <= innerWidth"
SHAPE = """() => [...document.querySelectorAll('*')].map(one => [one.tagName, !one.textContent.trim(),
  ...[...one.attributes].filter(({name}) => /^(class|id|role|type|disabled|tabindex|aria-.*)$/.test(name))
    .map(({name, value}) => `${name}=${value}`)].join(' ')).join('\\n')"""
# For each element that shows text of its own, its index and a hash of all that the style sheet can tell of it.
STYLES = """() => {
  const styles = new Map(), shown = [];
  [...document.querySelectorAll('*')].forEach((one, index) => {
    const own = [...one.attributes].map(({name, value}) => /^(class|role|style|type)$/.test(name) ? `${name}=${value}` : name);
    const text = [styles.get(one.parentElement), one.tagName, ...own].join(' ');
    let high = 5381, low = 52711;
    for (const letter of text) {
      high = Math.imul(high, 33) ^ letter.codePointAt(0);
      low = Math.imul(low, 31) + letter.codePointAt(0) | 0;
    }
    styles.set(one, `${high} ${low}`);
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(one.tagName) || [...one.childNodes].some(({nodeType, data}) => nodeType === 3 && data.trim()))
      shown.push([index, styles.get(one)]);
  });
  return shown;
}"""


def violations(page, *, contrast=True):
    """Return which rules a page breaks, and where; ``contrast``, which takes the longest to check, is one of them."""
    return _check(page, {"runOnly": {"type": "tag", "values": TAGS}, "rules": {CONTRAST: {"enabled": contrast}}})


def violations_in_the_dark(page):
    """Switch a page to the dark theme; return where its contrast is too low."""
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    return _check(page, {"runOnly": [CONTRAST]})


class Examiner:
    """Holds pages to the rules, and each style to the contrast once: what looks the same has the same contrast."""

    def __init__(self):
        self._known_styles = set()

    def look(self, page, path, *, like=None, in_the_dark=True):
        """Open a light page and hold it to the rules and to the window; return the shape of its elements.

        Contrast is checked wide, in both themes unless not ``in_the_dark``; every other rule wide and at the narrowest.
        The rules are skipped where the shape is ``like``, a page that was checked: the same elements break the same rules.
        """
        page.set_viewport_size({"width": WIDE, "height": 900})
        page.goto(path)
        shape = page.evaluate(SHAPE)
        if shape != like:
            assert violations(page, contrast=False) == [], (path, WIDE)
            self._contrast(page, path, in_the_dark)
        fits(page, path)
        if shape != like:
            assert violations(page, contrast=False) == [], (path, NARROW[-1])
        return shape

    def _contrast(self, page, path, in_the_dark):
        unknown = {style: index for index, style in page.evaluate(STYLES) if style not in self._known_styles}
        only = sorted(unknown.values())
        if only:
            assert _check(page, {"runOnly": [CONTRAST]}, only) == [], (path, "contrast")
            if in_the_dark:
                page.evaluate("document.documentElement.dataset.theme = 'dark'")
                assert _check(page, {"runOnly": [CONTRAST]}, only) == [], (path, "contrast in the dark")
        self._known_styles.update(unknown)


def fits(page, path):
    """Hold a page that is open to the window, ever narrower."""
    for width in (WIDE, *NARROW):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(FITS), (path, width)


def _check(page, options, only=None):
    if not page.evaluate("'axe' in window"):
        page.evaluate(SCRIPT.read_text())
    found = page.evaluate(CHECK, [options, only])
    return [(one["id"], [node["target"] for node in one["nodes"]][:3]) for one in found]
