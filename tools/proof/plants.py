"""Faults that tests plant into the history or the rows of a run, so that the checker must name them."""

import copy
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from tools.proof import checker
from tools.proof.history import History
from tools.proof.rows import Rows

Table = list[dict[str, Any]]
Tables = Mapping[str, Table]
Run = tuple[History, Rows]
Plant = Callable[[Tables, History], None]


def first(table: Table, **fields: Any) -> dict[str, Any]:
    return next(row for row in table if all(row[name] == value for name, value in fields.items()))


def event(tables: Tables, kind: str) -> dict[str, Any]:
    return first(tables["events"], kind=kind)


def named_with(plant: Plant, run: Run) -> set[str]:
    """Plant a fault into a copy of the run; return the names of the violations that the checker finds."""
    history, tables = History(run[0].seed), copy.deepcopy(asdict(run[1]))
    history.operations = copy.deepcopy(run[0].operations)
    history.notes = copy.deepcopy(run[0].notes)
    plant(tables, history)
    return {violation.name for violation in checker.violations(history, Rows(**tables))}
