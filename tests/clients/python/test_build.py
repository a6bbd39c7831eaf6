"""The package is built with a client for threads, which is written from the client for asyncio."""

import importlib.util
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.support.hub import ROOT

pytestmark = pytest.mark.one_database

PROJECT = ROOT / "clients" / "python"
BUILD = "import sys; sys.path.insert(0, '.'); import backend; print(getattr(backend, sys.argv[1])(sys.argv[2]))"
METHODS = """
import sys
sys.path.insert(0, sys.argv[1])
from a2a_hub_client import AsyncHub, AsyncTaskHandle, Hub, TaskHandle
for kind in AsyncHub, Hub, AsyncTaskHandle, TaskHandle:
    print(*sorted(name for name in dir(kind) if not name.startswith("_")))
    assert sys.modules[kind.__module__].__file__.startswith(sys.argv[1])
"""

_spec = importlib.util.spec_from_file_location("write_sync", PROJECT / "write_sync.py")
assert _spec
assert _spec.loader
write_sync = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(write_sync)


def python(folder: Path, *words: object) -> str:
    done = subprocess.run(
        [sys.executable, "-c", *map(str, words)], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Return a copy of the project as git keeps it, but with a client for threads of an earlier version."""
    copy = shutil.copytree(PROJECT, tmp_path / "clone", ignore=shutil.ignore_patterns("__pycache__", "_sync"))
    (old := copy / "src" / "a2a_hub_client" / "_sync").mkdir()
    (old / "earlier.py").write_text("")
    (old / "hub.py").write_text("")
    return copy


@pytest.mark.processes
@pytest.mark.parametrize("is_from_archive", [False, True])
def test_a_built_wheel_has_a_client_for_threads_with_the_methods_of_that_for_asyncio(clone, tmp_path, is_from_archive):
    if is_from_archive:
        archive = tmp_path / python(clone, BUILD, "build_sdist", tmp_path).strip()
        with tarfile.open(archive) as opened:
            opened.extractall(tmp_path / "archive", filter="data")
        (clone,) = (tmp_path / "archive").iterdir()
    wheel = tmp_path / python(clone, BUILD, "build_wheel", tmp_path).strip()

    asynchronous, synchronous, of_a_task, for_threads = python(tmp_path, METHODS, wheel).splitlines()

    assert (asynchronous, of_a_task) == (synchronous, for_threads)
    assert {"send", "receive", "run", "close"} <= set(synchronous.split())


@pytest.mark.processes
def test_an_editable_install_writes_the_client_for_threads(clone, tmp_path):
    python(clone, BUILD, "build_editable", tmp_path)

    written, source = (clone / "src" / "a2a_hub_client" / name for name in ("_sync", "_async"))
    assert {path.name for path in written.iterdir()} == {path.name for path in source.glob("*.py")}
    assert "class Hub(" in (written / "hub.py").read_text()


def test_names_and_words_are_those_of_threads():
    source = """
import asyncio  # for asyncio


class AsyncHub:
    async def a(self) -> AsyncIterator[int]:
        '''Return `AsyncHub`.'''
        async for one in self.b():
            yield await self.c(one)
"""
    wanted = """
import time  # for threads


class Hub:
    def a(self) -> Iterator[int]:
        '''Return `Hub`.'''
        for one in self.b():
            yield self.c(one)
"""

    assert write_sync.of(source).removeprefix(write_sync.NOTE) == wanted
