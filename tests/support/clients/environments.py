"""The environments of the official SDKs, in `.venv-clients/`. `make clients` installs them.

The two Python SDKs exclude each other, and neither is a package of the hub. The hub's own JavaScript client is built
there, too. Without a fitting node the JavaScript clients are not to be had.
"""

import shutil
import subprocess
from pathlib import Path

from tests.support.hub import ROOT

PLACE = ROOT / ".venv-clients"
DRIVERS = Path(__file__).parent / "drivers"
PACKAGE = ROOT / "clients" / "javascript"
OLDEST_NODE = 20
PYTHON = ("python_1", "python_0_3", "server_1")
JAVASCRIPT = ("javascript", "hub-client")


class NotInstalledError(Exception):
    """An environment is missing. The text says how to install it."""


def python_driver(name: str) -> list[str]:
    """Return the command of a driver in Python, without its arguments. Raises `NotInstalledError`."""
    return [str(_installed(name) / "bin" / "python"), str(DRIVERS / f"{name}.py")]


def javascript_driver(name: str) -> list[str]:
    """Return the command of a driver in JavaScript, without its arguments. Raises `NotInstalledError`."""
    return ["node", str(_installed("javascript") / f"{name}.mjs")]


def javascript_package() -> Path:
    """Return the folder of the hub's own client, built. Raises `NotInstalledError`."""
    return _installed("hub-client")


def has_node() -> bool:
    """Whether there are npm and a node that the SDKs run on."""
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        return False
    version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True).stdout
    return int(version.lstrip("v").partition(".")[0]) >= OLDEST_NODE


def are_installed(names: tuple[str, ...]) -> bool:
    """Whether the environments are those that `make clients` would make of today's files."""
    stamps = [f".venv-clients/{name}.stamp" for name in names]
    command = ["make", "--question", "--no-print-directory", *stamps]
    if shutil.which("make") is None:
        return False
    return subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode == 0


def _installed(name: str) -> Path:
    if not (PLACE / f"{name}.stamp").exists():
        raise NotInstalledError(f"{name} is not installed: make clients")
    return PLACE / name
