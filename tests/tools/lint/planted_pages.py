"""Faults in pages, each with what its check reports."""

from tests.tools.lint.planting import Row
from tools.lint import forms, pages, releases, tables

TASK = "class Task:\n    def send(self): ...\n\nasync def lease(): ...\n"
PNG = b"\x89PNG" + bytes(12) + (1400).to_bytes(4, "big")
FRONT = "# A2A Hub\n\nA mailbox for agents.\n\n![The dashboard shows all](docs/assets/dashboard.png)\n"
INDEX = {"docs/index.md": "![The dashboard shows all](assets/dashboard.png)"}
JS_CLASS = "export class {} {{\n  constructor(x) {{}}\n  async send(x) {{\n  }}\n  get state() {{\n  }}\n}}\n"
JS_MODULES = {
    f"{forms.JS_SOURCES}/{path}": JS_CLASS.format(name) for name, (path, _) in forms.JS_CLASSES.items() if name != "Hub"
}
HELD = "[`test_a`](../../tests/test_a.py)"
ATTACKS = """# Security

## Known attacks

| Id | Attack | Defence | Held by |
|---|---|---|---|
"""
STANDARD = """
## OWASP ASVS 5.0, level 2

| Requirement | Status | Reason | Held by |
|---|---|---|---|
"""
LAST = tables.REQUIREMENTS[-1]


def standard(*rows: str) -> dict[str, str]:
    return {tables.SECURITY: STANDARD + "".join(f"| {row} |\n" for row in rows)}


def architecture(tree: str, stations: int = 6) -> dict[str, str]:
    send = "".join(f"{number}. **A**\n" for number in range(1, stations + 1))
    page = f"# A\n\n## One send, in six stations\n\n{send}\n## The folders\n\n```text\n{tree}```\n"
    return {tables.ARCHITECTURE: page}


PAGES: list[Row] = [
    (
        pages.every_link_leads_to_a_file_and_a_heading,
        {
            "README.md": "# The hub's `a`\n\n[a](docs/a.md#b-c) [b](docs/b.md) [c](#the-hubs-a)\n[d](https://x)\n",
            "docs/a.md": "# B: c\n\n[a](../README.md) [b](../README.md#other)\n![c](c.png)\n",
        },
        [
            "README.md:3: the link is dead: docs/b.md",
            "docs/a.md:3: the link is dead: ../README.md#other",
            "docs/a.md:4: the link is dead: c.png",
        ],
    ),
    (
        pages.every_page_is_linked_from_another,
        {"README.md": "[a](docs/a.md)", "docs/a.md": "[a](#a)", "docs/b.md": "", "clients/x/README.md": ""},
        ["docs/b.md:1: no page links this one"],
    ),
    (
        pages.every_file_that_a_page_names_exists,
        {"docs/a.md": "`tests/a.py` `mailbox/`\n`tools/lint/b.py` `mailbox/dialects/ping/x.py`", "mailbox/a": ""},
        ["docs/a.md:1: the file is not there: tests/a.py", "docs/a.md:2: the file is not there: tools/lint/b.py"],
    ),
    (
        pages.every_definition_that_a_page_names_exists,
        {
            "docs/a.md": "`m/t.py` · `Task.send`, `m/t.py` ·\n`lease`\n`m/t.py` · `Task.lease` and `m/u.py` · `x`\n"
            "[`lease`](../m/t.py)\n[`drain`](../m/t.py) [`x`](../m/u.py)\n",
            "m/t.py": TASK,
        },
        [
            "docs/a.md:3: the definition is not there: m/t.py · Task.lease",
            "docs/a.md:3: the definition is not there: m/u.py · x",
            "docs/a.md:5: the definition is not there: m/t.py · drain",
            "docs/a.md:5: the definition is not there: m/u.py · x",
        ],
    ),
    (
        pages.every_test_that_a_page_names_exists,
        {
            "README.md": "`test_a`\n`test_b` and `test_c`\n",
            "tests/x/test_a.py": "def test_a():\n    pass\n\nasync def test_c(x): ...",
        },
        ["README.md:2: the test is not there: test_b"],
    ),
    (
        pages.every_target_of_make_that_a_page_names_exists,
        {
            "README.md": "`make lint` `SEED=2 make lint`\n```\nmake tests\n```\nmake it so\n",
            "Makefile": "lint: a\n\techo\n",
        },
        ["README.md:3: the target is not there: make tests", "README.md:5: the target is not there: make it"],
    ),
    (
        pages.every_program_that_a_page_runs_takes_its_options,
        {
            "README.md": "-m tests.a --all\n-m tools.b x --some -- --other\n-m tests.c\n",
            "tests/a.py": "",
            "tools/b/__main__.py": 'add("--some")',
        },
        ["README.md:1: tests/a.py has no option --all", "README.md:3: the program is not there: tests/c.py"],
    ),
]
FORMS: list[Row] = [
    (
        forms.the_notes_of_a_version_are_few,
        {
            forms.CHANGELOG: "# Changes\n\n## [2]\n\n### Added\n"
            + "- a\n" * 57
            + "## 1\n### Fixed\n### Added\n"
            + "- a\n" * 59
        },
        [
            "CHANGELOG.md:63: a version stands in brackets",
            "CHANGELOG.md:63: the headings are Before you upgrade, Added, Changed, Fixed, in this order",
            "CHANGELOG.md:63: the notes of a version have at most 60 lines",
        ],
    ),
    (
        forms.each_note_is_one_line,
        {forms.CHANGELOG: f"# Changes\n\nAll of them.\n\n## [1]\n\n### Added\n\n- {'a' * 118}\n- {'a' * 119}\n  b\n"},
        [f"CHANGELOG.md:{line}: a note is one line of at most 120 characters" for line in (10, 11)],
    ),
    (forms.the_readme_is_short_and_begins_with_one_sentence, {"README.md": FRONT}, []),
    (
        forms.the_readme_is_short_and_begins_with_one_sentence,
        {"README.md": FRONT.replace("agents.", "agents. And more.") + "\n" * 195},
        ["README.md:1: one sentence says what the hub is", "README.md:200: the page has at most 199 lines"],
    ),
    (forms.one_small_picture_shows_the_dashboard, INDEX | {"README.md": FRONT, forms.PICTURE: PNG}, []),
    (
        forms.one_small_picture_shows_the_dashboard,
        INDEX | {"README.md": FRONT.replace("The dashboard", "It"), forms.PICTURE: PNG.ljust(150_000)},
        [
            "README.md:1: the one picture is docs/assets/dashboard.png, and its text begins with: The dashboard",
            "docs/assets/dashboard.png:1: the picture is a PNG, about 1400 pixels wide, of less than 150000 bytes",
        ],
    ),
    (
        forms.every_method_of_the_javascript_client_is_described,
        JS_MODULES
        | {
            forms.JS_PAGE: "\n## `TaskHandle`\n`task.send` `task.state`\n"
            "## `TaskResult`\n`task.send`\n## `WorkerTask`\n`task.send`",
            f"{forms.JS_SOURCES}/hub.ts": "export class Hub {\n}\n",
        },
        [
            "clients/javascript/src/hub.ts:1: the class Hub has no method",
            "clients/javascript/src/result.ts:3: docs/reference/js-client.md does not describe result.send",
            "clients/javascript/src/result.ts:5: docs/reference/js-client.md does not describe result.state",
            "clients/javascript/src/worker/task.ts:5: docs/reference/js-client.md does not describe task.state",
        ],
    ),
]
TABLES: list[Row] = [
    (
        tables.each_word_of_the_glossary_is_carried_by_the_code,
        {
            tables.GLOSSARY: "| Word | A | B |\n|---|---|---|\n"
            "| task | x | `m/t.py` · `T` |\n| lease | x | `m/` |\n| tree | x | `n` |\n",
            "m/a": "",
        },
        ["docs/concepts/glossary.md:5: the place of tree is not there: `n`"],
    ),
    (
        tables.each_word_of_the_glossary_is_carried_by_the_code,
        {tables.GLOSSARY: "# Glossary\n"},
        ["docs/concepts/glossary.md:1: the page has no table of words"],
    ),
    (
        tables.each_word_of_the_glossary_has_one_meaning,
        {tables.GLOSSARY: "| task, work | x | `m` |\n| lease | x | `m` |\n| work | x | `m` |\n"},
        ["docs/concepts/glossary.md:3: the word has two rows: work"],
    ),
    (
        tables.the_tree_of_the_architecture_names_every_folder,
        architecture("docs/  x\n  contribute/\nmailbox/\n  words/  x\n    a2a/\ntests/\n")
        | {"mailbox/words/a.py": "", "mailbox/b/a.py": "", "tests/mailbox/words/a.py": "", "tests/c/a.py": ""},
        [
            "docs/contribute/architecture.md:1: the tree lacks the folder mailbox/b",
            "docs/contribute/architecture.md:1: the tree lacks the folder tests/c",
            "docs/contribute/architecture.md:19: the folder is not there: mailbox/words/a2a",
        ],
    ),
    (
        tables.the_stations_of_a_send_are_six,
        architecture("docs/\n", stations=5),
        ["docs/contribute/architecture.md:1: a send has 6 stations"],
    ),
    (
        tables.each_race_names_a_test_that_runs_it_on_both_databases,
        {
            tables.LOCKS: "## Races\n### A\n`tests/mailbox/life/test_a.py` · `test_a`\n### B\n`m.py` · `f`\n## C\n",
            "tests/mailbox/life/test_a.py": "pytestmark = pytest.mark.one_database",
        },
        [
            "docs/contribute/locks.md:4: the race names no test: B",
            "tests/mailbox/life/test_a.py:1: the tests of a race run on both databases",
        ],
    ),
    (
        tables.each_race_names_a_test_that_runs_it_on_both_databases,
        {tables.LOCKS: "## Races\n"},
        ["docs/contribute/locks.md:1: the page has no race"],
    ),
    (
        tables.each_attack_has_an_id_of_its_own_and_a_test_or_a_reason,
        {
            tables.SECURITY: f"{ATTACKS}| A-1 | x | y | {HELD} |\n"
            "| A-2 | x | Known limit. y | - |\n| A-3 | x | y | - |\n"
            f"| A-1 | x | y | {HELD} |\n"
        },
        [
            "docs/operate/security.md:7: the id has two rows: A-1",
            "docs/operate/security.md:9: A-3 names no test",
            "docs/operate/security.md:10: the id has two rows: A-1",
        ],
    ),
    (
        tables.each_attack_has_an_id_of_its_own_and_a_test_or_a_reason,
        {tables.SECURITY: ATTACKS},
        ["docs/operate/security.md:1: the page has no table of attacks below: Known attacks"],
    ),
    (
        tables.each_requirement_of_the_standard_has_one_row,
        standard(f"1.1.1-{tables.REQUIREMENTS[-2]} | met | x | {HELD}", f"{LAST} | n/a | x | -"),
        [],
    ),
    (
        tables.each_requirement_of_the_standard_has_one_row,
        standard(
            "1.9.9 | n/a", f"1.1.1-{tables.REQUIREMENTS[-3]} | met | x | -", f"{LAST} | good | x | -", f"{LAST} | n/a |"
        ),
        [
            "docs/operate/security.md:1: each requirement has one row, in order; these have not: "
            f"{tables.REQUIREMENTS[-2]}, {LAST}",
            "docs/operate/security.md:6: 1.9.9 has a reason, and a status of met, partly, not met, n/a",
            "docs/operate/security.md:6: the standard has no requirement 1.9.9",
            "docs/operate/security.md:7: 1.1.1-17.2.4 is met and names no test",
            f"docs/operate/security.md:8: {LAST} has a reason, and a status of met, partly, not met, n/a",
            f"docs/operate/security.md:9: {LAST} has a reason, and a status of met, partly, not met, n/a",
        ],
    ),
]
RELEASES: list[Row] = [
    (
        releases.the_proof_is_of_the_tagged_code,
        {releases.PROOF: "# Reliability\n\nCommit `unknown`, seed 1.\n"},
        [f"{releases.PROOF}:1: the page names the commit that it proves"],
    ),
]
PLANTED = [*PAGES, *FORMS, *TABLES, *RELEASES]
