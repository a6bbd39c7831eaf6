"""The names in pages: other pages, headings, files, definitions, tests, targets of make and programs."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from posixpath import dirname, join, normpath

from tools.lint.project import Fault, File, Project

LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(#[^)\s]+)?\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
NAMED_FILE = re.compile(
    r"`((?:a2aproject|agentcards|dashboard|docs|mailbox|requirements|templates|tests|tools)/[\w/.]*)`"
)
TO_BE_MADE = "/ping/"  # the dialect that docs/contribute/add-a-protocol.md leads to
LINKED_NAME = re.compile(r"\[`(\w+)`\]\(([^)#\s]+\.py)\)")
NAMED_TEST = re.compile(r"`(test_\w+)`")
REFERENCE = re.compile(r"`([\w/]+\.py)`\s+·\s+`([\w.]+)`")
DEFINED_TEST = re.compile(r"^ *(?:async )?def (test_\w+)\(", re.MULTILINE)
TARGET = re.compile(r"(?:`|^)(?:\w+=\S+ )?make ([a-z-]+)", re.MULTILINE)
PROGRAM = re.compile(r"-m ((?:tests|tools)[\w.]*\w)((?: (?!-- )[^\s#`]+)*)")
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def every_link_leads_to_a_file_and_a_heading(project: Project) -> Iterator[Fault]:
    for page in project.pages:
        for link in LINK.finditer(page.text):
            path, anchor = _target(page, link[1]), link[2]
            if not project.exists(path) or (anchor and anchor[1:] not in _anchors(project.file(path))):
                yield page.fault_at(link.start(), f"the link is dead: {link[1]}{anchor or ''}")


def every_page_is_linked_from_another(project: Project) -> Iterator[Fault]:
    linked = {_target(page, link[1]) for page in project.pages for link in LINK.finditer(page.text) if link[1]}
    for page in project.pages:
        if page.path not in linked and not page.path.endswith("README.md"):
            yield page.fault(1, "no page links this one")


def every_file_that_a_page_names_exists(project: Project) -> Iterator[Fault]:
    for page in project.pages:
        for found in NAMED_FILE.finditer(page.text):
            if not project.exists(found[1]) and TO_BE_MADE not in found[1]:
                yield page.fault_at(found.start(), f"the file is not there: {found[1]}")


def every_definition_that_a_page_names_exists(project: Project) -> Iterator[Fault]:
    """A page names a definition as ``path.py`` · ``name``, or by a link to its module."""
    for page in project.pages:
        for found in REFERENCE.finditer(page.text):
            if not defines(project, found[1], found[2]):
                yield page.fault_at(found.start(), f"the definition is not there: {found[1]} · {found[2]}")
        for found in LINKED_NAME.finditer(page.text):
            path = _target(page, found[2])
            if not project.exists(path) or not re.search(rf"\bdef {found[1]}\(", project.text(path)):
                yield page.fault_at(found.start(), f"the definition is not there: {path} · {found[1]}")


def every_test_that_a_page_names_exists(project: Project) -> Iterator[Fault]:
    there = {name for module in project.python("tests") for name in DEFINED_TEST.findall(module.text)}
    for page in project.pages:
        for found in NAMED_TEST.finditer(page.text):
            if found[1] not in there:
                yield page.fault_at(found.start(), f"the test is not there: {found[1]}")


def every_target_of_make_that_a_page_names_exists(project: Project) -> Iterator[Fault]:
    targets = set(re.findall(r"^([a-z-]+):", project.text("Makefile"), re.MULTILINE))
    for page in project.pages:
        for found in TARGET.finditer(page.text):
            if found[1] not in targets:
                yield page.fault_at(found.start(), f"the target is not there: make {found[1]}")


def every_program_that_a_page_runs_takes_its_options(project: Project) -> Iterator[Fault]:
    for page in project.pages:
        for found in PROGRAM.finditer(page.text):
            path = found[1].replace(".", "/")
            path = f"{path}/__main__.py" if project.exists(f"{path}/__main__.py") else f"{path}.py"
            if not project.exists(path):
                yield page.fault_at(found.start(), f"the program is not there: {path}")
                continue
            for option in re.findall(r"--[a-z-]+", found[2]):
                if f'"{option}"' not in project.text(path):
                    yield page.fault_at(found.start(), f"{path} has no option {option}")


def defines(project: Project, path: str, name: str) -> bool:
    """Whether the module at ``path`` defines the function or class ``name``; a dot leads into a class."""
    body = project.file(path).tree.body if project.exists(path) else []
    for part in name.split("."):
        found = [node for node in body if isinstance(node, DEFINITIONS) and node.name == part]
        if not found:
            return False
        body = found[-1].body
    return True


def section(text: str, title: str) -> str:
    """Return what stands below the heading ``title``, up to the next one of the second level."""
    return text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def _target(page: File, path: str) -> str:
    return normpath(join(dirname(page.path), path)) if path else page.path


@cache
def _anchors(page: File) -> set[str]:
    """Return the anchors of the page's headings, as code hosts make them."""
    titles = HEADING.findall(page.text)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
