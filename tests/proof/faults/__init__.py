"""Faults that strike a stage beside the load. The runner reads `FAULTS`."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from tests.proof.stage import Stage

DATABASES = ("sqlite", "postgresql")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A way to strike a stage.

    ``strike`` runs beside the load and returns when its cause is gone. The runner then measures the time until the next
    acknowledged write. ``missing`` returns what this machine lacks to strike so; None if it lacks nothing.
    """

    name: str
    strike: Callable[[Stage, random.Random], None]
    databases: tuple[str, ...] = DATABASES
    missing: Callable[[], str | None] = lambda: None


FAULTS: tuple[Fault, ...] = ()
