"""A library of our own that is preloaded into programs: it shifts their wall clock and fails their syncs by order.

A server's programs read the orders from a file in shared memory, so an order takes effect at once and in all of them.
"""

import mmap
import shutil
import struct
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

SOURCE = Path(__file__).with_suffix(".c")
CONTROL = "A2A_PROOF_CONTROL"
FIELDS = ("clock_offset", "fail_each", "syncs", "failed")
SIZE = struct.calcsize("q") * len(FIELDS)


def missing() -> str | None:
    """Return what this machine lacks to build and preload the library, None if it lacks nothing."""
    if sys.platform != "linux":
        return "libraries are preloaded on Linux alone"
    return None if shutil.which("cc") else "no C compiler (cc)"


def environment(folder: Path) -> dict[str, str]:
    """Build the library in ``folder``; return the variables that preload it, {} where `missing` returns a reason.

    Any user may read the folder after this: PostgreSQL runs as another user than root.
    """
    if missing():
        return {}
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
    library, control = folder / "shim.so", folder / "control"
    subprocess.run([shutil.which("cc") or "cc", "-shared", "-fPIC", "-O2", "-o", library, SOURCE, "-ldl"], check=True)
    control.write_bytes(bytes(SIZE))
    control.chmod(0o666)
    return {"LD_PRELOAD": str(library), CONTROL: str(control)}


class Orders:
    """The orders to programs that run with ``environment``. Raises `KeyError` for an environment without the shim."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._path = Path(environment[CONTROL])

    def shift_clock(self, seconds: int) -> None:
        """Let the wall clock be so many seconds ahead of the machine's, or behind."""
        self._set("clock_offset", seconds)

    def fail_syncs(self, each: int) -> None:
        """Let each so many-th sync fail with EIO, none for 0."""
        self._set("fail_each", each)

    @property
    def failed(self) -> int:
        """The number of syncs that failed by order."""
        return self._get("failed")

    def _set(self, name: str, value: int) -> None:
        with self._path.open("r+b") as file, mmap.mmap(file.fileno(), SIZE) as shared:
            struct.pack_into("q", shared, struct.calcsize("q") * FIELDS.index(name), value)

    def _get(self, name: str) -> int:
        value: int = struct.unpack_from("q", self._path.read_bytes(), struct.calcsize("q") * FIELDS.index(name))[0]
        return value
