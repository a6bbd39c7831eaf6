"""The doors that the conformance suite opens.

A dialect registers itself by a module ``doors`` in its folder of tests. The list ``DOORS`` there names its doors. Doors
that belong to no dialect register in the same way.
"""

from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.support.doors import Act, Door, HttpDoor
from tests.support.hub import ROOT

Decorator = Callable[[Any], Any]
DIALECTS = ROOT / "mailbox" / "dialects"
TESTS = ROOT / "tests" / "mailbox"
SHARED = "base"  # the folder that holds what all dialects share


def dialects_in(folder: Path) -> set[str]:
    """Return the names of the dialects in a folder of dialects."""
    return {package.parent.name for package in folder.glob("*/__init__.py")} - {SHARED}


def doors_of(module: Path) -> list[type[Door]]:
    name = ".".join(module.relative_to(ROOT).with_suffix("").parts)
    doors: list[type[Door]] = import_module(name).DOORS
    return doors


MODULES = sorted(TESTS.rglob("doors.py"))
DOORS = [door for module in MODULES for door in doors_of(module)]


def doors_that(*acts: Act) -> Decorator:
    """Run a check once for each door that does all of ``acts`` itself."""
    return parametrized(door for door in DOORS if door.does >= set(acts))


def http_doors_that(*acts: Act) -> Decorator:
    """Run a check once for each door of routes that does all of ``acts`` itself."""
    return parametrized(door for door in DOORS if door.does >= set(acts) and issubclass(door, HttpDoor))


def parametrized(doors: Iterable[type[Door]]) -> Decorator:
    """Run a check once for each of the doors, all of which belong to the gate."""
    of_doors = pytest.mark.parametrize("door", list(doors), ids=lambda door: door.__name__, indirect=True)
    return lambda test: pytest.mark.every_case(of_doors(test))
