from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.template import engines

ROOT = Path(__file__).resolve().parents[3]
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
LONGEST = 120
STEP = 2
LISTS = [
    one
    for one in TEMPLATES
    if "<tbody data-list" in one.read_text() or one.name in ("lease_row.html", "delivery_row.html")
]
UNLABELLED = re.compile(r'<td(?! class="(?:pick|verbs|when)")(?![^>]*(?: data-label="[^"]| colspan=))[^>]*>(?!</td>)')
VERBATIM = "</textarea>"  # a browser shows the white space before it


def indentation(line):
    return len(line) - len(line.lstrip())


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_no_line_of_a_template_is_too_long(template):
    lines = template.read_text().splitlines()

    assert [line for line in lines if len(line) > LONGEST] == []


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_templates_are_indented_step_by_step(template):
    lines = [line for line in template.read_text().splitlines() if line and not line.endswith(VERBATIM)]
    above = [0, *map(indentation, lines)]

    assert [line for line in lines if "\t" in line or line != line.rstrip()] == []
    assert [line for line in lines if indentation(line) % STEP] == []
    assert [line for line, before in zip(lines, above, strict=False) if indentation(line) > before + STEP] == []


@pytest.mark.parametrize("template", LISTS, ids=lambda path: path.name)
def test_each_cell_of_a_list_names_its_column_for_cards(template):
    text = template.read_text()
    rows = "".join(re.findall(r"<tbody data-list.*?</tbody>", text, re.DOTALL)) or text

    assert "<td" in rows or "_row.html" in rows
    assert UNLABELLED.findall(rows) == []


def test_pages_carry_no_indentation(rf):
    page = engines["django"].get_template("404.html").render({}, rf.get("/"))

    assert '<section class="panel attn" role="alert">\n<h1 id="panel-title">' in page
