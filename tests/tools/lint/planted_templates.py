"""Faults in templates and style sheets, each with what its check reports."""

from hashlib import sha256

from tests.tools.lint.planting import Row
from tools.lint import styles, templates

PALE = "--mut: light-dark(#ccc, #aaaaaa);"
COLOURS = "\n".join(
    [
        "--bg: light-dark(#f6f7f9, #0f1318);",
        "--panel: light-dark(#fff, #161b22);",
        "--here: light-dark(#e3ecfb, #1d2b40);",
        "--edge: light-dark(#777, #888);",
        *(f"--{token}: light-dark(#222222, #eeeeee);" for token in ("ink", "mut", "acc", "ok", "bad", "warn", "part")),
        "--on-acc: light-dark(#fff, #111);",
        "--on-bad: light-dark(#fff, #111);",
    ]
)
NOISE = "".join(sha256(bytes(number)).hexdigest() for number in range(1500))  # which stays large, compressed


def lists(*cells: str) -> str:
    return "\n".join(["<tbody data-list>", *cells, "</tbody>"])


TEMPLATES: list[Row] = [
    (
        templates.no_template_contains_what_the_security_policy_forbids,
        {
            "templates/a.html": "\n".join(
                [
                    '<script src="a.js"></script>',
                    '<p style="x">',
                    '<a onclick="x">',
                    '<a hx-on:click="x">',
                    '<a href="javascript:x">',
                    '<a hx-trigger="click[x]">',
                    "<script>",
                    "<style>",
                    "{{ x|safe }}",
                ]
            )
        },
        [
            f"templates/a.html:{line}: the security policy forbids {what}"
            for line, what in enumerate(templates.FORBIDDEN, 2)
        ],
    ),
    (
        templates.every_post_form_carries_a_csrf_token,
        {"templates/a.html": '<form method="post">{% csrf_token %}', "templates/b.html": '\n<form method="post">'},
        ["templates/b.html:2: 1 forms post, 0 carry a token"],
    ),
    (
        templates.no_line_of_a_template_is_too_long,
        {"templates/a.html": f"{'x' * 120}\n{'x' * 121}"},
        ["templates/a.html:2: a line has at most 120 characters"],
    ),
    (
        templates.templates_are_indented_step_by_step,
        {"templates/a.html": "<a>\n  <b>\n\n    <c>\n<d>\n    <e>\n     <f>\n<g> \n<h>\t<i>\n         x</textarea>\n"},
        [
            "templates/a.html:6: an indentation is 2 spaces deeper than above, or less deep",
            "templates/a.html:7: an indentation is 2 spaces deeper than above, or less deep",
            "templates/a.html:8: a line has no tab, and no space at its end",
            "templates/a.html:9: a line has no tab, and no space at its end",
        ],
    ),
    (
        templates.each_cell_of_a_list_names_its_column,
        {
            "templates/a.html": lists(
                '<td data-label="Agent">x</td>', '<td class="pick">x</td>', "<td></td>", "<td>x</td>"
            ),
            "templates/b.html": lists("<p>"),
            "templates/c.html": "<td>x</td>",
            "templates/d.html": "<tbody data-list>",
            "templates/lease_row.html": '<td class="x">x</td>',
        },
        [
            "templates/a.html:5: the cell needs a data-label: <td>",
            "templates/b.html:1: the list has no cell",
            "templates/d.html:1: a list ends with </tbody>",
            'templates/lease_row.html:1: the cell needs a data-label: <td class="x">',
        ],
    ),
    (
        templates.every_icon_exists_and_stands_beside_a_word,
        {
            templates.SIGNS: '<symbol id="map">',
            templates.FRAME: 'PLACES = (\n    Place("map", "Map"),\n    Place("tree", "Trees"),\n)',
            "templates/a.html": '<a>{% icon "map" %} Map</a>\n<a>{% icon "map" %}</a>\n<a>{% icon "gone" %} Gone</a>',
        },
        [
            "dashboard/base/frame.py:3: dashboard/static/ops/icons.svg has no icon tree",
            "templates/a.html:2: an icon stands beside a word",
            "templates/a.html:3: dashboard/static/ops/icons.svg has no icon gone",
        ],
    ),
]
STYLES: list[Row] = [
    (styles.style_sheets_and_scripts_keep_their_size_limit, {f"{styles.STATIC}/a.css": "x" * 60_000}, []),
    (
        styles.style_sheets_and_scripts_keep_their_size_limit,
        {f"{styles.STATIC}/a.css": "", f"{styles.STATIC}/a.js": NOISE},
        [f"{styles.STATIC}:1: style sheets and scripts have more than 40960 bytes, compressed"],
    ),
    (
        styles.each_line_of_a_style_sheet_holds_one_declaration,
        {f"{styles.STATIC}/a.css": "a,\nb {\n    c: d;\n}\n\n/* e */\na { b: c; }\nb: c; d: e;\n"},
        [f"{styles.STATIC}/a.css:{line}: a line holds one declaration, in 120 characters" for line in (7, 8)],
    ),
    (styles.colours_have_enough_contrast_in_both_themes, {styles.SHEET: COLOURS}, []),
    (
        styles.colours_have_enough_contrast_in_both_themes,
        {styles.SHEET: COLOURS.replace("--mut: light-dark(#222222, #eeeeee);", PALE).replace("--on-bad: light", "")},
        [
            f"{styles.SHEET}:1: --on-bad or --bad has no two colours",
            f"{styles.SHEET}:6: mut on bg has a contrast of 1.50, at least 6.0",
            f"{styles.SHEET}:6: mut on panel has a contrast of 1.61, at least 6.0",
        ],
    ),
]
PLANTED = [*TEMPLATES, *STYLES]
