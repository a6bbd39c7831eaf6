from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import pytest

pytestmark = pytest.mark.one_database

ROOT = Path(__file__).resolve().parent.parent
PRODUCT = ("a2aproject", "agentcards", "dashboard", "mailbox")
SHARED = {
    "AgentCard": "the name of the value in Marianne, and of the table that has kept it since the first migration",
    "Command": "the name that Django gives each management command",
    "DatabaseWrapper": "the name that Django gives the connection of each engine",
}


def classes():
    """Yield the name and the module of each class that a product module defines at its top level."""
    for package in PRODUCT:
        for path in sorted((ROOT / package).rglob("*.py")):
            if "migrations" not in path.parts:
                for node in ast.parse(path.read_text()).body:
                    if isinstance(node, ast.ClassDef):
                        yield node.name, str(path.relative_to(ROOT))


def test_a_class_name_means_one_thing_in_the_whole_product():
    homes = defaultdict(list)
    for name, module in classes():
        homes[name].append(module)

    assert {name: where for name, where in homes.items() if len(where) > 1}.keys() == SHARED.keys()


def test_no_class_of_the_product_is_imported_under_another_name():
    names = {name for name, _ in classes()}
    imports = [
        (str(path.relative_to(ROOT)), alias.name, alias.asname)
        for package in PRODUCT
        for path in (ROOT / package).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname and alias.name in names
    ]

    assert imports == []
