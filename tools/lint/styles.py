"""The style sheets and scripts of the dashboard: their form, their size, and the contrast of their colours."""

import gzip
import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from tools.lint.project import Fault, Project

STATIC = "dashboard/static/ops"
SHEET = f"{STATIC}/ops.css"
LONGEST_LINE = 120
LARGEST = 40 * 1024  # bytes of all style sheets and scripts of a page, compressed
FORM = re.compile(r" *(|[^{};]+ {|}|[^{};]+,|[^{};]+;|/\*.*\*/)")
TEXT = ("ink", "mut", "acc", "ok", "bad", "warn", "part")
LEAST_CONTRAST = {  # a colour and the one behind it
    **{(token, behind): 6.0 for token in TEXT for behind in ("bg", "panel")},
    **dict.fromkeys([("on-acc", "acc"), ("on-bad", "bad"), ("ink", "here"), ("warn", "here")], 4.5),
    **dict.fromkeys([("edge", "bg"), ("edge", "panel")], 3.0),  # controls
}


def style_sheets_and_scripts_keep_their_size_limit(project: Project) -> Iterator[Fault]:
    files = [file for suffix in (".css", ".js") for file in project.files(STATIC, suffix)]
    size = sum(len(gzip.compress(file.text.encode())) for file in files) + len(gzip.compress(_htmx()))
    if size > LARGEST:
        yield Fault(STATIC, 1, f"style sheets and scripts have more than {LARGEST} bytes, compressed")


def each_line_of_a_style_sheet_holds_one_declaration(project: Project) -> Iterator[Fault]:
    for sheet in project.files(STATIC, ".css"):
        for number, line in enumerate(sheet.lines, 1):
            if len(line) > LONGEST_LINE or not FORM.fullmatch(line):
                yield sheet.fault(number, f"a line holds one declaration, in {LONGEST_LINE} characters")


def colours_have_enough_contrast_in_both_themes(project: Project) -> Iterator[Fault]:
    sheet = project.file(SHEET)
    colours = {name: pair for name, *pair in re.findall(r"--([\w-]+): light-dark\((#\w+), (#\w+)\)", sheet.text)}
    for (token, behind), least in LEAST_CONTRAST.items():
        if not (token in colours and behind in colours):
            yield sheet.fault(1, f"--{token} or --{behind} has no two colours")
            continue
        found = min(map(contrast, colours[token], colours[behind]))
        if found < least:
            line = sheet.text.find(f"--{token}: light-dark")
            yield sheet.fault_at(line, f"{token} on {behind} has a contrast of {found:.2f}, at least {least}")


def contrast(first: str, second: str) -> float:
    """Return the contrast of two colours as WCAG defines it."""
    high, low = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    if len(colour) == 4:
        colour = "#" + "".join(digit * 2 for digit in colour[1:])
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _htmx() -> bytes:
    """Return the script that a package brings."""
    spec = find_spec("django_htmx")
    assert spec is not None
    assert spec.origin is not None
    return (Path(spec.origin).parent / "static" / "django_htmx" / "htmx-2.min.js").read_bytes()
