"""Check the house rules that need no running hub: python -m tools.lint.

A check is a public function of the modules below. It reads all its files at once and yields a fault for each place that
breaks its rule. The program prints the faults and ends with 1 if there is one.
"""

import gc
import inspect
import time
from collections.abc import Callable, Iterable

from tools.lint import forms, layout, packages, pages, prose, releases, rooms, styles, tables, templates, weight
from tools.lint.project import Fault, Project

MODULES = (forms, layout, packages, pages, prose, releases, rooms, styles, tables, templates, weight)
CHECKS: list[Callable[[Project], Iterable[Fault]]] = [
    function
    for module in MODULES
    for name, function in inspect.getmembers(module, inspect.isgeneratorfunction)
    if not name.startswith("_") and [*inspect.signature(function).parameters] == ["project"]
]


def main() -> int:
    project = Project()
    faults = sorted({fault for check in CHECKS for fault in check(project)})
    print(*faults, sep="\n", end="\n" if faults else "")  # noqa: T201
    print(f"{len(CHECKS)} checks, {project.read} files, {len(faults)} faults, {time.process_time():.1f} s")  # noqa: T201
    return 1 if faults else 0


if __name__ == "__main__":
    gc.disable()  # the trees of all modules stay until the end
    raise SystemExit(main())
