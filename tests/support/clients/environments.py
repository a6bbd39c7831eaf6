"""The environments of the official SDKs, in `.venv-clients/`. The first test or benchmark that needs one installs it.

The two Python SDKs exclude each other, and neither is a package of the hub. The hub's own JavaScript client is built
there, too. Without a fitting node the JavaScript clients are not to be had.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.hub import ROOT

PLACE = ROOT / ".venv-clients"
DRIVERS = Path(__file__).parent / "drivers"
PINNED = ROOT / "requirements"
PACKAGE = ROOT / "clients" / "javascript"
MADE = {"dist", "node_modules"}
OLDEST_NODE = 20
_NO_REGISTRY = re.compile(r"code (ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN|ERR_SOCKET_TIMEOUT)")
_unreachable: list[str] = []  # why this process cannot install the JavaScript clients


class InstallationError(Exception):
    """An environment could not be installed. The text is the installer's output."""


def python_driver(name: str, pinned: str) -> list[str]:
    """Return the command of a driver in Python, without its arguments. ``pinned`` is its file of requirements.

    Raises `InstallationError` if its environment cannot be made.
    """
    folder = PLACE / name
    _once(folder, _digest(PINNED / pinned), lambda: _install_python(folder, PINNED / pinned))
    return [str(folder / "bin" / "python"), str(DRIVERS / f"{name}.py")]


def javascript_driver(name: str) -> list[str]:
    """Return the command of a driver in JavaScript. Skip the test where there is no node that the SDKs run on."""
    node = _node()
    folder = PLACE / "javascript"
    files = [*sorted((PINNED / "a2a-client-js").iterdir()), *sorted(DRIVERS.glob("*.mjs"))]
    _install_from_npm(folder, files)
    return [node, str(folder / f"{name}.mjs")]


def javascript_package() -> tuple[str, Path]:
    """Return node and the folder of the hub's own client, built. Skip the test as `javascript_driver` does."""
    node = _node()
    folder = PLACE / "hub-client"
    _install_from_npm(folder, [PACKAGE / "package.json", PACKAGE / "package-lock.json"])
    _once(PLACE / "hub-client-build", _digest(*package_files()), lambda: _build(folder))
    return node, folder


def package_files() -> list[Path]:
    """Return the source files of the hub's JavaScript client."""
    found = (path for path in PACKAGE.rglob("*") if not MADE & set(path.relative_to(PACKAGE).parts))
    return sorted(path for path in found if path.is_file())


def _node() -> str:
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("The JavaScript clients need node and npm.")
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    if int(version.lstrip("v").partition(".")[0]) < OLDEST_NODE:
        pytest.skip(f"The JavaScript clients need node {OLDEST_NODE}, and this is {version.strip()}.")
    return node


def _once(folder: Path, digest: str, install: Callable[[], None]) -> None:
    """Install under a lock, unless the folder's stamp shows that these very files were installed."""
    PLACE.mkdir(exist_ok=True)
    with (PLACE / f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stamp = PLACE / f"{folder.name}.stamp"
        if not stamp.exists() or stamp.read_text() != digest:
            install()
            stamp.write_text(digest)


def _digest(*files: Path) -> str:
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def _install_python(folder: Path, pinned: Path) -> None:
    own = {"VENV": str(folder), "PYTHON": sys.executable}
    _run([str(PINNED / "install.sh"), str(pinned)], cwd=ROOT, **own)


def _install_from_npm(folder: Path, files: list[Path]) -> None:
    """Copy the files to the folder, and install the packages that they pin. Skip the test without a registry."""
    if not _unreachable:
        _once(folder, _digest(*files), lambda: _npm_ci(folder, files))
    for reason in _unreachable:
        (PLACE / f"{folder.name}.stamp").unlink(missing_ok=True)
        pytest.skip(reason)


def _npm_ci(folder: Path, files: list[Path]) -> None:
    folder.mkdir(exist_ok=True)
    for file in files:
        shutil.copy(file, folder)
    quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--omit-lockfile-registry-resolved"]
    try:
        _run(["npm", "ci", *quiet, "--fetch-retries=1", "--fetch-timeout=60000"], cwd=folder)
    except InstallationError as error:
        if not _NO_REGISTRY.search(str(error)):
            raise
        _unreachable.append("The JavaScript clients need npm's registry, which cannot be reached.")


def _build(folder: Path) -> None:
    for name in ("src", "test", "dist"):
        shutil.rmtree(folder / name, ignore_errors=True)
    for file in package_files():
        copy = folder / file.relative_to(PACKAGE)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, copy)
    _run(["npm", "run", "build"], cwd=folder)


def _run(command: list[str], *, cwd: Path, **environment: str) -> None:
    ran = subprocess.run(command, cwd=cwd, env=os.environ | environment, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise InstallationError(ran.stdout + ran.stderr)
