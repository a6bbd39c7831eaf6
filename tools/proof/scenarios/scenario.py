"""A scenario: hubs and databases of its own, their load, and what must hold in the end."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tools.proof.faults.fault import DATABASES
from tools.proof.forms import Part


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A course of events that needs more than a stage and a fault.

    ``run`` takes a database, an empty folder and a seed. It returns a part for each load that it ran. ``missing``
    returns what this machine lacks for the scenario; None if it lacks nothing. ``covers`` says in one or two sentences
    what it does and what must hold.
    """

    name: str
    covers: str
    run: Callable[[str, Path, int], Sequence[Part]]
    databases: tuple[str, ...] = DATABASES
    missing: Callable[[], str | None] = lambda: None
