"""Requests to the gate are built, and their scope ids spelled, in one module."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.hub import ROOT

pytestmark = pytest.mark.one_database

HOME = ROOT / "mailbox" / "gate" / "requests.py"
PRODUCT = [
    path
    for package in ("a2aproject", "agentcards", "dashboard", "mailbox")
    for path in (ROOT / package).rglob("*.py")
    if path != HOME
]


def texts(module: Path) -> Iterator[str]:
    """Yield the string literals of a module, and the literal parts of its f-strings."""
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def builds_a_request(module: Path) -> bool:
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Request" and node.keywords
        for node in ast.walk(ast.parse(module.read_text()))
    )


def test_requests_are_built_by_their_constructors_alone():
    assert [str(module) for module in PRODUCT if builds_a_request(module)] == []


def test_scope_ids_are_spelled_in_one_module():
    scopes = {text for text in texts(HOME) if text.startswith(("a2a-", "a2a:"))}

    assert len(scopes) > 15
    assert [f"{module}: {text}" for module in PRODUCT for text in texts(module) if text.startswith(tuple(scopes))] == []


def takes_a_permit(module: Path) -> bool:
    """Whether the module keeps what `capabilities.require` returns."""
    tree = ast.parse(module.read_text())
    dropped = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and id(node) not in dropped]
    return any(ast.unparse(call.func) == "capabilities.require" for call in calls)


def test_a_verb_passes_the_gate_through_the_journal_of_its_decision():
    gate, hot = HOME.parent, ROOT / "mailbox" / "verbs" / "hot"

    taking = {module.parent for module in PRODUCT if takes_a_permit(module)}

    assert taking == {gate, hot}  # the journal; the short form, which writes the row itself
