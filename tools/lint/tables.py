"""Tables of pages that are compared with the tree: words, folders, races, attacks and requirements."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath

from tools.lint.pages import LINKED_NAME, REFERENCE, section
from tools.lint.project import Fault, File, Project

GLOSSARY = "docs/concepts/glossary.md"
WORD = re.compile(r"^\| (?!Word)([^|]+) \| [^|]+ \| ([^|]+) \|$", re.MULTILINE)
ARCHITECTURE = "docs/contribute/architecture.md"
FOLDER = re.compile(r"^( *)(\S+)/(?: |$)")
STATIONS = 6
LOCKS = "docs/contribute/locks.md"
RACES = "tests/mailbox/life/"
SECURITY = "docs/operate/security.md"
ATTACKS, STANDARD = "Known attacks", "OWASP ASVS 5.0, level 2"
STATUSES = ("met", "partly", "not met", "n/a")
# The requirements of levels 1 and 2 of OWASP ASVS 5.0: the number of the last one in each section.
SECTIONS = """
1.1:2 1.2:9 1.3:11 1.4:3 1.5:2 2.1:3 2.2:3 2.3:4 2.4:1 3.2:2 3.3:4 3.4:6 3.5:5 3.7:2 4.1:3 4.2:1 4.3:2 4.4:4
5.1:1 5.2:3 5.3:2 5.4:3 6.1:3 6.2:12 6.3:4 6.4:4 6.5:5 6.6:3 6.8:4 7.1:3 7.2:4 7.3:2 7.4:5 7.5:2 7.6:2
8.1:2 8.2:3 8.3:1 8.4:1 9.1:3 9.2:4 10.1:2 10.2:2 10.3:4 10.4:11 10.5:5 10.6:2 10.7:3
11.1:2 11.2:3 11.3:3 11.4:4 11.5:1 11.6:1 12.1:3 12.2:2 12.3:4 13.1:1 13.2:5 13.3:2 13.4:5
14.1:2 14.2:4 14.3:3 15.1:3 15.2:3 15.3:7 16.1:1 16.2:5 16.3:4 16.4:3 16.5:3 17.1:1 17.2:4 17.3:2
"""
REQUIREMENTS = [
    f"{part}.{number}"
    for part, last in (each.split(":") for each in SECTIONS.split())
    for number in range(1, int(last) + 1)
]


def each_word_of_the_glossary_is_carried_by_the_code(project: Project) -> Iterator[Fault]:
    """The last cell of a row names a folder or a module. `tools.lint.pages` checks the definitions that it names."""
    page = project.file(GLOSSARY)
    rows = [*WORD.finditer(page.text)]
    if not rows:
        yield page.fault(1, "the page has no table of words")
    for row in rows:
        if not REFERENCE.search(row[2]) and not project.exists(row[2].strip("`")):
            yield page.fault_at(row.start(), f"the place of {row[1]} is not there: {row[2]}")


def each_word_of_the_glossary_has_one_meaning(project: Project) -> Iterator[Fault]:
    page = project.file(GLOSSARY)
    seen: set[str] = set()
    for row in WORD.finditer(page.text):
        for word in row[1].split(", "):
            if word in seen:
                yield page.fault_at(row.start(), f"the word has two rows: {word}")
            seen.add(word)


def the_tree_of_the_architecture_names_every_folder(project: Project) -> Iterator[Fault]:
    named = dict(reversed([*_named_folders(project.file(ARCHITECTURE))]))
    for folder in project.folders:
        mirrored = PurePosixPath(*folder.parts[1:])
        if folder not in named and not (folder.parts[0] == "tests" and mirrored in named):
            yield Fault(ARCHITECTURE, 1, f"the tree lacks the folder {folder}")
    for folder, line in named.items():
        if not project.exists(str(folder)):
            yield Fault(ARCHITECTURE, line, f"the folder is not there: {folder}")


def the_stations_of_a_send_are_six(project: Project) -> Iterator[Fault]:
    stations = section(project.text(ARCHITECTURE), "One send, in six stations")
    if len(re.findall(r"^\d\. \*\*", stations, re.MULTILINE)) != STATIONS:
        yield Fault(ARCHITECTURE, 1, f"a send has {STATIONS} stations")


def each_race_names_a_test_that_runs_it_on_both_databases(project: Project) -> Iterator[Fault]:
    page = project.file(LOCKS)
    titles = [*re.finditer(r"^##(#?) (.+)$", page.text, re.MULTILINE)]
    if not any(title[1] for title in titles):
        yield page.fault(1, "the page has no race")
    for title, ending in zip(titles, [*(title.start() for title in titles[1:]), None], strict=True):
        if title[1]:
            story = page.text[title.end() : ending]
            if not any(path.startswith("tests/") for path, _ in REFERENCE.findall(story)):
                yield page.fault_at(title.start(), f"the race names no test: {title[2]}")
    for path in sorted({path for path, _ in REFERENCE.findall(page.text) if path.startswith(RACES)}):
        if project.exists(path) and "one_database" in project.text(path):
            yield Fault(path, 1, "the tests of a race run on both databases")


def each_attack_has_an_id_of_its_own_and_a_test_or_a_reason(project: Project) -> Iterator[Fault]:
    page = project.file(SECURITY)
    rows = [*_rows(page, ATTACKS)]
    count = Counter(cells[0] for _, cells in rows)
    if not rows:
        yield page.fault(1, f"the page has no table of attacks below: {ATTACKS}")
    for line, (attack, _, defence, held) in rows:
        if count[attack] > 1:
            yield page.fault(line, f"the id has two rows: {attack}")
        if not LINKED_NAME.search(held) and not defence.startswith("Known limit."):
            yield page.fault(line, f"{attack} names no test")


def each_requirement_of_the_standard_has_one_row(project: Project) -> Iterator[Fault]:
    """A row has a status and a reason, and a test if the hub meets the requirement."""
    page = project.file(SECURITY)
    listed: list[str] = []
    for line, (requirement, status, reason, held) in _rows(page, STANDARD):
        first, _, last = requirement.partition("-")
        if {first, last or first} <= {*REQUIREMENTS}:
            listed += REQUIREMENTS[REQUIREMENTS.index(first) : REQUIREMENTS.index(last or first) + 1]
        else:
            yield page.fault(line, f"the standard has no requirement {requirement}")
        if status not in STATUSES or not reason:
            yield page.fault(line, f"{requirement} has a reason, and a status of {', '.join(STATUSES)}")
        if status == "met" and not LINKED_NAME.search(held):
            yield page.fault(line, f"{requirement} is met and names no test")
    if listed != REQUIREMENTS:
        rest = [each for each in REQUIREMENTS if listed.count(each) != 1]
        yield page.fault(1, f"each requirement has one row, in order; these have not: {', '.join(rest)}")


def _named_folders(page: File) -> Iterator[tuple[PurePosixPath, int]]:
    """Yield the folders of the annotated tree, each with the folders above it, and their lines."""
    tree = section(page.text, "The folders").partition("```text\n")[2].partition("```")[0]
    begin = page.text[: page.text.find(tree)].count("\n") + 1
    above: list[PurePosixPath] = []
    for line, text in enumerate(tree.splitlines(), begin):
        for indent, name in FOLDER.findall(text):
            depth = len(indent) // 2
            above = [*above[:depth], PurePosixPath(*above[max(0, depth - 1) : depth], name)]
            yield from ((folder, line) for folder in (above[-1], *above[-1].parents) if folder.parts)


def _rows(page: File, title: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the four cells of each row of the tables below a heading, without the heads of the tables."""
    begin = page.text[: page.text.find(f"\n## {title}\n")].count("\n") + 3
    for line, text in enumerate(section(page.text, title).splitlines(), begin):
        cells = [cell.strip() for cell in text.strip("|").split(" | ")]
        if text.startswith("| ") and cells[0] not in ("Id", "Requirement"):
            yield line, [*cells, "", "", ""][:4]
