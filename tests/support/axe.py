"""Checks of the accessibility rules on pages in a browser."""

from pathlib import Path

import axe_playwright_python

NARROW = (390, 320)
WIDE = 1440

SCRIPT = Path(axe_playwright_python.__file__).parent / "axe.min.js"
WCAG = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
TAGS = [*WCAG, "best-practice"]
CONTRAST = "color-contrast"
CHECK = """([options, only]) => {
  const all = document.querySelectorAll('*'), context = only ? {include: only.map(index => all[index])} : document;
  return axe.run(context, {...options, resultTypes: ['violations'], preload: false}).then(found => found.violations);
}"""
FITS = "document.documentElement.scrollWidth <= innerWidth"
SHAPE = """() => [...document.querySelectorAll('*')].map(one => [one.tagName, !one.textContent.trim(),
  ...[...one.attributes].filter(({name}) => /^(class|id|role|type|disabled|tabindex|aria-.*)$/.test(name))
    .map(({name, value}) => `${name}=${value}`)].join(' ')).join('\\n')"""
# For each element with text of its own: its index, and a hash of everything that style sheets can select it by.
STYLES = """() => {
  const styles = new Map(), shown = [];
  [...document.querySelectorAll('*')].forEach((one, index) => {
    const own = [...one.attributes].map(({name, value}) =>
      /^(class|role|style|type)$/.test(name) ? `${name}=${value}` : name);
    const text = [styles.get(one.parentElement), one.tagName, ...own].join(' ');
    let high = 5381, low = 52711;
    for (const letter of text) {
      high = Math.imul(high, 33) ^ letter.codePointAt(0);
      low = Math.imul(low, 31) + letter.codePointAt(0) | 0;
    }
    styles.set(one, `${high} ${low}`);
    const hasText = [...one.childNodes].some(({nodeType, data}) => nodeType === 3 && data.trim());
    if (hasText || /^(INPUT|SELECT|TEXTAREA)$/.test(one.tagName))
      shown.push([index, styles.get(one)]);
  });
  return shown;
}"""


def violations(page, *, contrast=True, tags=TAGS):
    """Return the rules that a page breaks, with the elements. ``contrast`` includes contrast, the slowest rule."""
    return _check(page, {"runOnly": {"type": "tag", "values": tags}, "rules": {CONTRAST: {"enabled": contrast}}})


def violations_in_the_dark(page):
    """Switch a page to the dark theme; return the elements whose contrast is too low."""
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    return _check(page, {"runOnly": [CONTRAST]})


class Examiner:
    """Checks pages against the rules. It checks the contrast of each style once, on the first page that has it."""

    def __init__(self):
        self._known_styles = set()

    def look(self, page, path, *, like=None, in_the_dark=True, narrow=NARROW):
        """Open a page in the light theme, check the rules and that it fits the window; return its elements' shape.

        Contrast is checked in a wide window, in both themes if ``in_the_dark``. All other rules are checked in a wide
        and in the narrowest window. If the shape equals ``like``, the shape of a checked page, the rules are skipped.
        """
        page.set_viewport_size({"width": WIDE, "height": 900})
        page.goto(path)
        shape = page.evaluate(SHAPE)
        if shape != like:
            assert violations(page, contrast=False) == [], (path, WIDE)
            self._contrast(page, path, in_the_dark)
        fits(page, path, narrow)
        if shape != like:
            assert violations(page, contrast=False) == [], (path, narrow[-1])
        return shape

    def glance(self, page, path):
        """Open a page in the light theme and in a wide window, and check the rules there."""
        page.set_viewport_size({"width": WIDE, "height": 900})
        page.goto(path)
        assert violations(page, contrast=False) == [], path
        self._contrast(page, path, in_the_dark=False)

    def _contrast(self, page, path, in_the_dark):
        unknown = {style: index for index, style in page.evaluate(STYLES) if style not in self._known_styles}
        only = sorted(unknown.values())
        if only:
            assert _check(page, {"runOnly": [CONTRAST]}, only) == [], (path, "contrast")
            if in_the_dark:
                page.evaluate("document.documentElement.dataset.theme = 'dark'")
                assert _check(page, {"runOnly": [CONTRAST]}, only) == [], (path, "contrast in the dark")
        self._known_styles.update(unknown)


def fits(page, path, narrow=NARROW):
    """Check that the open page needs no horizontal scrolling in windows of all widths."""
    for width in (WIDE, *narrow):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(FITS), (path, width)


def _check(page, options, only=None):
    if not page.evaluate("'axe' in window"):
        page.evaluate(SCRIPT.read_text())
    found = page.evaluate(CHECK, [options, only])
    return [(one["id"], [node["target"] for node in one["nodes"]][:3]) for one in found]
