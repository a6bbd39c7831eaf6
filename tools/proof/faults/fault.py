"""A fault that strikes a stage beside the load."""

import random
from collections.abc import Callable
from dataclasses import dataclass

from tools.proof.stage import Stage

DATABASES = ("sqlite", "postgresql")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A way to strike a stage.

    ``strike`` runs beside the load and returns when its cause is gone. It raises `AssertionError` if the hub breaks a
    promise of the fault itself, such as a truthful /readyz. The runner then measures the time until the next
    acknowledged write. ``missing`` returns what this machine lacks to strike so; None if it lacks nothing.

    ``times`` is how often the long form strikes at least, on each database. ``is_short`` faults strike in the short
    form too, once. ``counted`` is the number of single faults in one strike.
    """

    name: str
    strike: Callable[[Stage, random.Random], None]
    databases: tuple[str, ...] = DATABASES
    missing: Callable[[], str | None] = lambda: None
    times: int = 1
    is_short: bool = False
    counted: int = 1
