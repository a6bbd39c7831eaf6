"""Runs `manage.py a2a backup` and `restore` on a database of actors."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.load.actors import Database
from tests.support.databases import database_of_its_own
from tests.support.hub import PATIENCE, ROOT
from tests.support.postgres import programs_for


def environment_of(database: Database, **more: str) -> dict[str, str]:
    """Return the environment of commands, with pg_dump of the tests' server before other versions."""
    own = [] if os.environ.get("TEST_DATABASE_URL") else [str(programs_for(database.folder, None))]
    return database.environment | {"PATH": os.pathsep.join([*own, os.environ["PATH"]]), "SECRET_KEY": ""} | more


def a2a(database: Database, *words: object, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a command of `manage.py a2a` on the database."""
    call = [sys.executable, str(ROOT / "manage.py"), "a2a", *map(str, words)]
    return subprocess.run(
        call, env=environment_of(database, **more), capture_output=True, text=True, timeout=PATIENCE, check=False
    )


def done(ended: subprocess.CompletedProcess[str]) -> str:
    assert (ended.returncode, ended.stderr) == (0, ""), ended.stderr
    return ended.stdout


def refusal(ended: subprocess.CompletedProcess[str]) -> str:
    assert (ended.returncode, ended.stdout) == (1, "")
    return ended.stderr


@contextlib.contextmanager
def new_hub(folder: Path) -> Iterator[Database]:
    """Yield a place for a hub: a folder that does not exist yet, and on PostgreSQL a database without a table."""
    with (
        database_of_its_own() as url,
        Database(folder, url or f"sqlite:///{folder / 'hub.sqlite3'}") as database,
    ):
        yield database


def state(database: Database) -> tuple[Any, list[str]]:
    return database.act("rows"), database.act("problems")
