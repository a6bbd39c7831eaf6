"""The environment that `make` installs holds the pinned packages, and no installer with known weaknesses."""

import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.support.hub import ROOT

pytestmark = [pytest.mark.processes, pytest.mark.one_database]

INFO = "sample-1.0.dist-info"
FILES = {
    "sample.py": "",
    f"{INFO}/METADATA": "Metadata-Version: 2.1\nName: sample\nVersion: 1.0\n",
    f"{INFO}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    f"{INFO}/RECORD": "".join(
        f"{name},,\n" for name in ("sample.py", *(f"{INFO}/{each}" for each in ("METADATA", "WHEEL", "RECORD")))
    ),
}


@pytest.fixture
def requirements(tmp_path: Path) -> Path:
    """Write a requirements file with the hash of a wheel that stands beside it."""
    wheel = tmp_path / "sample-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in FILES.items():
            archive.writestr(name, text)
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    pinned = tmp_path / "pinned.txt"
    pinned.write_text(f"sample @ {wheel.as_uri()} --hash=sha256:{digest}\n")
    return pinned


def install(pinned: Path, path: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHON": sys.executable, "PATH": path, "PIP_NO_INDEX": "1", "UV_OFFLINE": "1"}
    command = [str(ROOT / "requirements" / "install.sh"), str(pinned)]
    return subprocess.run(command, cwd=pinned.parent, env=environment, capture_output=True, text=True, check=True)


def installed(folder: Path) -> set[str]:
    code = "from importlib.metadata import distributions; print(*{d.metadata['Name'] for d in distributions()})"
    printed = subprocess.run(
        [folder / ".venv/bin/python", "-I", "-c", code], capture_output=True, text=True, check=True
    )
    return set(printed.stdout.split())


def paths_without_uv(tmp_path: Path) -> str:
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("sh", "rm", "mktemp", "cat", "grep"):
        (tools / name).symlink_to(shutil.which(name) or name)
    return str(tools)


def test_pip_installs_and_leaves_neither_itself_nor_setuptools(tmp_path, requirements):
    path = paths_without_uv(tmp_path)

    first, second = install(requirements, path), install(requirements, path)

    assert "Making .venv" in first.stdout
    assert "Making .venv" not in second.stdout
    assert installed(tmp_path) == {"sample"}


def test_an_environment_of_an_earlier_version_loses_pip_and_setuptools(tmp_path, requirements):
    subprocess.run([sys.executable, "-m", "venv", tmp_path / ".venv"], check=True)
    assert "pip" in installed(tmp_path)

    install(requirements, paths_without_uv(tmp_path))

    assert installed(tmp_path) == {"sample"}
