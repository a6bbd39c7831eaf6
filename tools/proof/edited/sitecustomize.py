"""Changes the source of modules of the hub while they are imported, as A2A_PROOF_EDITS says.

Only `tools.proof.edits` sets that variable, and puts this folder on the module path of a served hub. The variable
is a JSON list of [module, old text, new text]. If a module lacks an old text, the process ends.
"""

import importlib.abc
import importlib.machinery
import json
import os
import sys
from collections import defaultdict
from collections.abc import Sequence
from types import ModuleType

EDITS: dict[str, list[tuple[str, str]]] = defaultdict(list)
for _module, _old, _new in json.loads(os.environ.get("A2A_PROOF_EDITS", "[]")):
    EDITS[_module].append((_old, _new))


class Edited(importlib.machinery.SourceFileLoader):
    """Compiles the edited source, and keeps no bytecode of it."""

    def get_code(self, fullname: str) -> object:  # type: ignore[override]
        path = self.get_filename(fullname)
        source = self.get_data(path).decode()
        for old, new in EDITS[fullname]:
            if old not in source:
                os.write(2, f"edit: {fullname} has no text {old!r}\n".encode())
                os._exit(70)
            source = source.replace(old, new)
        return compile(source, path, "exec", dont_inherit=True)


class Finder(importlib.abc.MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname not in EDITS:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.origin is not None:
            spec.loader = Edited(fullname, spec.origin)
        return spec


if EDITS:
    sys.meta_path.insert(0, Finder())
