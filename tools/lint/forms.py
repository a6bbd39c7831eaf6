"""The forms of single pages: the changelog, the README, the front of the site and the JavaScript client."""

import re
from collections.abc import Iterator

from tools.lint.pages import section
from tools.lint.project import Fault, Project

CHANGELOG = "CHANGELOG.md"
MOST_NOTES, LONGEST_NOTE = 60, 120  # lines, characters
VERSION = re.compile(r"^## (.*)\n(?:(?!## ).*\n)*", re.MULTILINE)
HEADINGS = ("Before you upgrade", "Added", "Changed", "Fixed")
README = "README.md"
MOST_LINES = 199
WITH_PICTURES = {README: "docs/assets/dashboard.png", "docs/index.md": "assets/dashboard.png"}
PICTURE = "docs/assets/dashboard.png"
MOST_BYTES = 150_000
WIDTHS = range(1300, 1501)
JS_PAGE = "docs/reference/js-client.md"
JS_SOURCES = "clients/javascript/src"
JS_CLASSES = {  # the module of each class, and what its page calls an object
    "Hub": ("hub.ts", "hub"),
    "TaskHandle": ("handle.ts", "task"),
    "TaskResult": ("result.ts", "result"),
    "WorkerTask": ("worker/task.ts", "task"),
}
JS_METHOD = re.compile(r"^  (?:async )?(?:\*\s*)?(?:get )?(?!constructor)([a-z]\w*)\(", re.MULTILINE)


def the_notes_of_a_version_are_few(project: Project) -> Iterator[Fault]:
    page = project.file(CHANGELOG)
    for version in VERSION.finditer(page.text):
        if not version[1].startswith("["):
            yield page.fault_at(version.start(), "a version stands in brackets")
        if version[0].count("\n") > MOST_NOTES:
            yield page.fault_at(version.start(), f"the notes of a version have at most {MOST_NOTES} lines")
        headings = re.findall(r"^### (.*)$", version[0], re.MULTILINE)
        if headings != [heading for heading in HEADINGS if heading in headings]:
            yield page.fault_at(version.start(), f"the headings are {', '.join(HEADINGS)}, in this order")


def each_note_is_one_line(project: Project) -> Iterator[Fault]:
    page = project.file(CHANGELOG)
    first = next((number for number, line in enumerate(page.lines, 1) if line.startswith("## ")), len(page.lines))
    for number, line in enumerate(page.lines[first - 1 :], first):
        if line and (not line.startswith(("- ", "## ", "### ")) or len(line) > LONGEST_NOTE):
            yield page.fault(number, f"a note is one line of at most {LONGEST_NOTE} characters")


def the_readme_is_short_and_begins_with_one_sentence(project: Project) -> Iterator[Fault]:
    page = project.file(README)
    if len(page.lines) > MOST_LINES:
        yield page.fault(MOST_LINES + 1, f"the page has at most {MOST_LINES} lines")
    sentence = page.text.partition("# A2A Hub\n\n")[2].partition("\n\n")[0]
    if ". " in sentence or not sentence.endswith("."):
        yield page.fault(1, "one sentence says what the hub is")


def one_small_picture_shows_the_dashboard(project: Project) -> Iterator[Fault]:
    for path, picture in WITH_PICTURES.items():
        page = project.file(path)
        shown = re.findall(r"!\[([^\]]*)\]\((\S+)\)", page.text)
        if [name for _, name in shown] != [picture] or not shown[0][0].startswith("The dashboard "):
            yield page.fault(1, f"the one picture is {picture}, and its text begins with: The dashboard")
    data = (project.root / PICTURE).read_bytes()
    if not data.startswith(b"\x89PNG") or int.from_bytes(data[16:20], "big") not in WIDTHS or len(data) >= MOST_BYTES:
        yield Fault(PICTURE, 1, f"the picture is a PNG, about 1400 pixels wide, of less than {MOST_BYTES} bytes")


def every_method_of_the_javascript_client_is_described(project: Project) -> Iterator[Fault]:
    page = project.text(JS_PAGE)
    for name, (path, called) in JS_CLASSES.items():
        source = project.file(f"{JS_SOURCES}/{path}")
        begin = source.text.find(f"export class {name}")
        methods = [*JS_METHOD.finditer(source.text, begin, source.text.find("\n}\n", begin))]
        if not methods:
            yield source.fault(1, f"the class {name} has no method")
        for method in methods:
            if f"`{called}.{method[1]}`" not in section(page, f"`{name}`"):
                yield source.fault_at(method.start(), f"{JS_PAGE} does not describe {called}.{method[1]}")
