"""Tables of cases for the fast form of the hot verbs.

They hold steps that the fast form leaves to the whole form, and steps that it serves.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.support.dump import Dump
from tests.support.stage import Stage, Step, stage, summary


@dataclass(frozen=True)
class Case:
    arrange: Callable[[Stage], Step]
    decided: object  # a summary, or the code of a refusal
    unseen: bool  # whether the fast form leaves it without a statement


class Table:
    def __init__(self) -> None:
        self.params: list[Any] = []

    def case(
        self, decided: object, *, unseen: bool = False
    ) -> Callable[[Callable[[Stage], Step]], Callable[[Stage], Step]]:
        """Add the function decorated as a case, under its own name."""

        def add(arrange: Callable[[Stage], Step]) -> Callable[[Stage], Step]:
            self.params.append(pytest.param(Case(arrange, decided, unseen), id=arrange.__name__))
            return arrange

        return add


def assert_left(case: Case) -> None:
    """Assert that the fast form returns None and changes no row, and that the verb then decides as the case says."""
    with stage() as on:
        step = case.arrange(on)
        before = Dump().tables()

        with CaptureQueriesContext(connection) as statements:
            assert step.fast() is None

        assert Dump().tables() == before
        assert not (case.unseen and len(statements)), statements.captured_queries
        assert step.decided() == case.decided


def assert_served(case: Case) -> None:
    """Assert that the fast form answers as the case says."""
    with stage() as on:
        assert summary(case.arrange(on).fast()) == case.decided
