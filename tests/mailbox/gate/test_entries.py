"""Every kind of journal row has one constructor, and nothing else spells the kind."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TypeGuard

import pytest

from mailbox.gate import entries
from mailbox.words.kinds import Kind
from tests.support.hub import ROOT

pytestmark = pytest.mark.one_database

HOMES = [ROOT / "mailbox" / "words" / "kinds.py", *(ROOT / "mailbox" / "gate" / "entries").glob("*.py")]
PRODUCT = [
    path
    for package in ("a2aproject", "agentcards", "dashboard", "mailbox")
    for path in (ROOT / package).rglob("*.py")
    if path not in HOMES and "migrations" not in path.parts
]
TEMPLATES = list((ROOT / "templates").rglob("*.html"))
SPELLED = re.compile(rf"(?<![a-z0-9_])({'|'.join(kind.value for kind in Kind)})(?![a-z0-9_])")
# Answers of Covenant have a field `kind`, too, and some of its values are those of journal rows.
COVENANT = ROOT / "mailbox" / "dialects" / "covenant"


def strings(tree: ast.AST) -> Iterator[str]:
    """Yield the string literals that are not docstrings, and the literal parts of f-strings."""
    texts = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in texts:
            yield node.value


def kinds_in(module: Path) -> set[str]:
    return {match[1] for text in strings(ast.parse(module.read_text())) for match in SPELLED.finditer(text)}


def is_kind(node: ast.AST) -> TypeGuard[ast.Attribute]:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "Kind"


def makes_a_row(module: Path) -> bool:
    names = {"Entry", "LifeEntry", "AuditEvent"}
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names
        for node in ast.walk(ast.parse(module.read_text()))
    )


def test_each_kind_has_the_constructor_of_its_name():
    assert set(entries.__all__) == {kind.name.lower() for kind in Kind}


def test_a_constructor_makes_rows_of_the_kind_that_it_is_named_after():
    made = {
        function.name: {node.attr for node in ast.walk(function) if is_kind(node)}
        for home in HOMES
        for function in ast.parse(home.read_text()).body
        if isinstance(function, ast.FunctionDef)
    }

    assert made == {kind.name.lower(): {kind.name} for kind in Kind}


def test_no_other_module_spells_a_kind():
    modules = [module for module in PRODUCT if module.parent != COVENANT]

    assert {str(module.relative_to(ROOT)): kinds for module in modules if (kinds := kinds_in(module))} == {}


def test_no_template_spells_a_kind():
    assert [path.name for path in TEMPLATES if SPELLED.search(path.read_text())] == []


def test_rows_are_made_by_the_constructors_and_the_journal_alone():
    assert [str(module.relative_to(ROOT)) for module in PRODUCT if makes_a_row(module)] == ["mailbox/gate/audit.py"]
