"""The files by which the web processes of a hub count together, so that each of them can tell the numbers of all.

A file is mapped into memory. A write to a page without space on the disk would kill its process. So each process takes
the space of its files at its start, and counts alone if there is none.
"""

import logging
import os
from pathlib import Path

VARIABLE = "PROMETHEUS_MULTIPROC_DIR"  # where prometheus_client looks for the folder
SPACE = {"counter": 2**20, "histogram": 2**22, "gauge_livesum": 2**16}  # bytes by the names of prometheus_client

_logger = logging.getLogger(__name__)


def environment(folder: Path) -> dict[str, str]:
    """Empty the folder for a new web server; return the variable that names it, {} if the folder cannot be used."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        for file in folder.glob("*.db"):
            file.unlink()
    except OSError as error:
        _logger.warning("each web process counts alone in its metrics: %s", error)
        return {}
    return {VARIABLE: str(folder)}


def join() -> None:
    """Take the space of this process's files. Call this before prometheus_client is imported."""
    folder = os.environ.get(VARIABLE)
    if folder is None:
        return
    try:
        for kind, size in SPACE.items():
            descriptor = os.open(Path(folder) / f"{kind}_{os.getpid()}.db", os.O_RDWR | os.O_CREAT, 0o600)
            try:
                os.posix_fallocate(descriptor, 0, size)
            finally:
                os.close(descriptor)
    except OSError as error:
        _logger.warning("this web process counts alone in its metrics: %s", error)
        del os.environ[VARIABLE]


def processes() -> dict[int, bool]:
    """Return whether each process lives that counts with this one, by its id. Without others it is this one alone."""
    folder = os.environ.get(VARIABLE)
    if folder is None:
        return {os.getpid(): True}
    numbers = [int(file.stem.rpartition("_")[2]) for file in Path(folder).glob("gauge_livesum_*.db")]
    return {number: _is_alive(number) for number in sorted(numbers)}


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
