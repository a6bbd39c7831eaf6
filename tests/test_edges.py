"""What an edge must not do itself: the verbs and the inspections do it for all of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from mailbox.verbs.life import expiry

ROOT = Path(__file__).resolve().parent.parent
MAILBOX = ROOT / "mailbox"
DASHBOARD = list((ROOT / "dashboard").rglob("*.py"))
EDGES = [
    MAILBOX / "in_process.py",
    *(path for room in ("dialects", "management", "background") for path in (MAILBOX / room).rglob("*.py")),
]


def of_each(modules: list[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("module", modules, ids=lambda path: str(path.relative_to(ROOT)))


def nodes_of(module: Path) -> Iterator[ast.AST]:
    return ast.walk(ast.parse(module.read_text()))


@of_each(EDGES)
def test_an_edge_of_the_mailbox_queries_no_rows(module):
    managers = {"objects", "_default_manager", "_base_manager"}
    used = [node.lineno for node in nodes_of(module) if isinstance(node, ast.Attribute) and node.attr in managers]

    assert used == []


@of_each([*EDGES, *DASHBOARD])
def test_an_edge_expires_a_task_only_by_reading_it(module):
    used = [
        node.attr
        for node in nodes_of(module)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "expiry"
    ]
    imported = [
        name.name
        for node in nodes_of(module)
        if isinstance(node, ast.ImportFrom) and node.module == expiry.__name__
        for name in node.names
    ]

    assert {*used, *imported} <= {"current"}
