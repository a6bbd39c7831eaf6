"""The shape of a section."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Figures = dict[str, Any]
BOTH = ("postgresql", "sqlite")


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A subject of measurements.

    ``measure`` gets the URL of a new database, an empty folder and the options; it returns figures for JSON. ``tables``
    gets the figures by database and returns Markdown. ``options`` are the names of the options that it reads.
    """

    measure: Callable[[str, Path, argparse.Namespace], Figures]
    tables: Callable[[Mapping[str, Figures]], str]
    options: Sequence[str]
    databases: Sequence[str] = BOTH
