"""Run a check over files that a test makes."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from tools.lint.project import Fault, Project

Check = Callable[[Project], Iterable[Fault]]
Row = tuple[Check, Mapping[str, str | bytes], list[str]]  # a check, the files, and the faults that it reports


def planted(folder: Path, files: Mapping[str, str | bytes]) -> Project:
    """Write the files below the folder."""
    for path, content in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return Project(folder)


def reported(check: Check, project: Project) -> list[str]:
    return [str(fault) for fault in sorted(check(project))]
