"""A hand-made bug, and the changes of text that make it."""

from dataclasses import dataclass
from pathlib import Path

from tools.proof.edits import Edit


@dataclass(frozen=True, slots=True)
class Change:
    """Replaces ``old``, which occurs once in the file at ``path``, by ``new``."""

    path: str
    old: str
    new: str

    def applied(self, text: str) -> str:
        """Return the changed text. Raises `StaleBugError` unless ``old`` occurs exactly once."""
        if (found := text.count(self.old)) != 1:
            raise StaleBugError(f"{self.path} has {found} times, not once:\n{self.old}")
        return text.replace(self.old, self.new)


class StaleBugError(Exception):
    """The text that a bug changes is not in the product exactly once. Adapt the bug to the product."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bug:
    """A bug with its ``name``, what it ``does``, and the test that it ``fails``, as pytest names tests.

    ``database`` is the database that the test runs on: "sqlite" or "postgresql". ``in_gate``: `make test` runs the test
    there. `make test-all` runs every test. ``breaks`` is the violation that the proof names too, under a load of its
    own; "" if no run of the proof is known to meet the bug.
    """

    name: str
    does: str
    changes: tuple[Change, ...]
    fails: str
    database: str = "sqlite"
    in_gate: bool = True
    breaks: str = ""

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The changes as edits of a served hub."""
        return tuple(
            (change.path.removesuffix(".py").replace("/", "."), change.old, change.new) for change in self.changes
        )

    def applied(self, root: Path) -> dict[Path, str]:
        """Return the changed files of the tree at ``root``, by path. Raises `StaleBugError`."""
        texts: dict[Path, str] = {}
        for change in self.changes:
            path = root / change.path
            texts[path] = change.applied(texts.get(path) or path.read_text())
        return texts
