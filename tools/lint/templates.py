"""The templates: their layout, what the policy of the pages forbids, and what lists and icons need."""

import re
from collections.abc import Iterator
from itertools import pairwise

from tools.lint.project import Fault, File, Project

LONGEST_LINE = 120
STEP = 2
VERBATIM = "</textarea>"  # a browser shows the white space before it
FORBIDDEN = {
    "an inline style": re.compile(r"\sstyle\s*="),
    "an inline handler": re.compile(r"<[^>]*\son[a-z]+=[\"']"),
    "hx-on": re.compile(r"hx-on"),
    "a script value": re.compile(r"\bjs(?:on)?:|javascript:"),
    "a trigger filter": re.compile(r'hx-trigger="[^"]*\['),
    "an inline script": re.compile(r"<script(?![^>]*\ssrc=)"),
    "a style element": re.compile(r"<style"),
    "unescaped text": re.compile(r"\|safe\b|autoescape off"),
}
POST = 'method="post"'
TOKEN = "{% csrf_token %}"
LIST = re.compile(r"<tbody data-list.*?</tbody>", re.DOTALL)
ROWS = ("lease_row.html", "delivery_row.html")  # parts of lists
UNLABELLED = re.compile(r'<td(?! class="(?:pick|verbs|when)")(?![^>]*(?: data-label="[^"]| colspan=))[^>]*>(?!</td>)')
SIGNS = "dashboard/static/ops/icons.svg"
FRAME = "dashboard/base/frame.py"


def no_template_contains_what_the_security_policy_forbids(project: Project) -> Iterator[Fault]:
    for template in project.templates:
        for what, pattern in FORBIDDEN.items():
            for found in pattern.finditer(template.text):
                yield template.fault_at(found.end(), f"the security policy forbids {what}")


def every_post_form_carries_a_csrf_token(project: Project) -> Iterator[Fault]:
    for template in project.templates:
        forms, tokens = template.text.count(POST), template.text.count(TOKEN)
        if forms != tokens:
            yield template.fault_at(template.text.find(POST), f"{forms} forms post, {tokens} carry a token")


def no_line_of_a_template_is_too_long(project: Project) -> Iterator[Fault]:
    for template in project.templates:
        for number, line in enumerate(template.lines, 1):
            if len(line) > LONGEST_LINE:
                yield template.fault(number, f"a line has at most {LONGEST_LINE} characters")


def templates_are_indented_step_by_step(project: Project) -> Iterator[Fault]:
    for template in project.templates:
        lines = [(number, line) for number, line in enumerate(template.lines, 1) if line]
        lines = [(number, line) for number, line in lines if not line.endswith(VERBATIM)]
        for (_, above), (number, line) in pairwise([(0, ""), *lines]):
            if "\t" in line or line != line.rstrip():
                yield template.fault(number, "a line has no tab, and no space at its end")
            if _indentation(line) % STEP or _indentation(line) > _indentation(above) + STEP:
                yield template.fault(number, f"an indentation is {STEP} spaces deeper than above, or less deep")


def each_cell_of_a_list_names_its_column(project: Project) -> Iterator[Fault]:
    """In narrow windows a row is a card, which shows the names of the columns."""
    for template in project.templates:
        lists = [(found.start(), found[0]) for found in LIST.finditer(template.text)]
        if "<tbody data-list" in template.text and not lists:
            yield template.fault(1, "a list ends with </tbody>")
        if template.path.endswith(ROWS):
            lists.append((0, template.text))
        if lists and not any("<td" in rows or "_row.html" in rows for _, rows in lists):
            yield template.fault_at(lists[0][0], "the list has no cell")
        for start, rows in lists:
            for found in UNLABELLED.finditer(rows):
                yield template.fault_at(start + found.start(), f"the cell needs a data-label: {found[0]}")


def every_icon_exists_and_stands_beside_a_word(project: Project) -> Iterator[Fault]:
    signs = set(re.findall(r'<symbol id="(\w+)"', project.text(SIGNS)))
    for template in project.templates:
        yield from _missing(template, r'{% icon "(\w+)" %}', signs)
        for found in re.finditer(r"{% icon [^%]*%}\s*</", template.text):
            yield template.fault_at(found.start(), "an icon stands beside a word")
    yield from _missing(project.file(FRAME), r'\bPlace\("(\w+)"', signs)


def _missing(file: File, named: str, signs: set[str]) -> Iterator[Fault]:
    for found in re.finditer(named, file.text):
        if found[1] not in signs:
            yield file.fault_at(found.start(), f"{SIGNS} has no icon {found[1]}")


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())
