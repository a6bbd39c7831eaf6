"""Reads the project's pages for tests: blocks of commands and tables."""

import re
from typing import NamedTuple

from tests.support.hub import ROOT

END_OF_PROGRAM = "END_OF_PROGRAM"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Step(NamedTuple):
    """A block of commands, and the block of output that the page shows after it."""

    commands: str
    printed: str


def page(path: str) -> str:
    return (ROOT / path).read_text()


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
