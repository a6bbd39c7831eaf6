"""Reads the project's pages for tests: blocks of commands, tables, sections, names of code."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import NamedTuple

from tests.support.hub import ROOT

DEFINITIONS = (ast.FunctionDef, ast.ClassDef)
END_OF_PROGRAM = "END_OF_PROGRAM"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Step(NamedTuple):
    """A block of commands, and the block of output that the page shows after it."""

    commands: str
    printed: str


def page(path: str) -> str:
    return (ROOT / path).read_text()


def all_pages() -> list[Path]:
    """Return the Markdown pages of the project."""
    return sorted([*ROOT.glob("*.md"), *(ROOT / "clients").glob("*/*.md"), *(ROOT / "docs").rglob("*.md")])


def section(text: str, title: str) -> str:
    """Return what stands below the heading ``title``, up to the next one of the second level."""
    return text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def first_cells(text: str) -> str:
    """Return the first cells of all rows of all tables, one per line."""
    return "\n".join(re.findall(r"^\|(.*?)\|", text, re.MULTILINE))


def steps(text: str, *, with_programs: bool = False) -> list[Step]:
    """Return each block of commands with the block of output that stands before the next one.

    ``with_programs`` makes a block of Python a program for the `python` of the shell.
    """
    found: list[Step] = []
    for language, block in BLOCK.findall(text):
        if language == "sh":
            found.append(Step(block, ""))
        elif language == "python" and with_programs:
            found.append(Step(f"python - <<'{END_OF_PROGRAM}'\n{block}{END_OF_PROGRAM}\n", ""))
        elif found:
            found[-1] = Step(found[-1].commands, block)
    return found


def references(text: str) -> list[tuple[str, str]]:
    """Return the (path, name) of all that the page names as ``path.py`` · ``name``."""
    return re.findall(r"`([\w/]+\.py)` · `([\w.]+)`", " ".join(text.split()))


def defines(path: str, name: str) -> bool:
    """Whether the module at ``path`` defines the function or class ``name``; a dot leads into a class."""
    body = ast.parse(page(path)).body if (ROOT / path).is_file() else []
    for part in name.split("."):
        found = [node for node in body if isinstance(node, DEFINITIONS) and node.name == part]
        if not found:
            return False
        body = found[-1].body
    return True
