"""Edges query no rows and expire no tasks themselves: verbs and inspections do that for all edges."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from tests.support.hub import ROOT

pytestmark = pytest.mark.one_database

MAILBOX = ROOT / "mailbox"
DASHBOARD = list((ROOT / "dashboard").rglob("*.py"))
ADMIN = ROOT / "dashboard" / "admin"  # Django's admin reads through its own querysets
EDGES = [
    *(
        path
        for room in ("in_process", "dialects", "management", "background")
        for path in (MAILBOX / room).rglob("*.py")
    ),
]
MANAGERS = {"objects", "_default_manager", "_base_manager"}


def uses(modules: Iterable[Path], is_use: Callable[[ast.AST], bool]) -> list[str]:
    """Return the places of these nodes in the modules, as path:line."""
    return [
        f"{module.relative_to(ROOT)}:{node.lineno}"
        for module in modules
        for node in ast.walk(ast.parse(module.read_text()))
        if is_use(node) and hasattr(node, "lineno")
    ]


def names_of(node: ast.AST) -> Iterator[str]:
    """Yield the names of the module ``expiry`` that the node uses."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "expiry":
        yield node.attr
    elif isinstance(node, ast.ImportFrom) and node.module == "mailbox.verbs.life.expiry":
        yield from (name.name for name in node.names)


def test_edges_query_no_rows():
    modules = [*EDGES, *(path for path in DASHBOARD if ADMIN not in path.parents)]

    assert uses(modules, lambda node: isinstance(node, ast.Attribute) and node.attr in MANAGERS) == []


def test_edges_expire_tasks_only_to_read_them():
    readings = {"current", "make_inbox_current", "read"}

    assert uses([*EDGES, *DASHBOARD], lambda node: bool({*names_of(node)} - readings)) == []


def is_wait_for_a_change(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "for_change"


def test_edges_wait_for_changes_of_a_task_only_after_its_expiry():
    assert uses([*EDGES, *DASHBOARD], is_wait_for_a_change) == []


def test_the_checks_of_edges_detect_queries_and_expiry():
    verbs = list((MAILBOX / "verbs").rglob("*.py"))

    assert uses(verbs, lambda node: isinstance(node, ast.Attribute) and node.attr in MANAGERS)
    assert uses(verbs, lambda node: bool({*names_of(node)} - {"current"}))
    assert uses(verbs, is_wait_for_a_change)
