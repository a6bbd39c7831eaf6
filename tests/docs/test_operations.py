"""The commands and queries of the page about operations work as written."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from django.db import connection

from mailbox.database import timetable
from tests.support import pages
from tests.support.hub import PATIENCE, ROOT, served

PAGE = pages.page("docs/operate/operations.md")


def block_of(title: str, language: str) -> str:
    (text,) = [text for found, text in pages.BLOCK.findall(pages.section(PAGE, title)) if found == language]
    return str(text)


@pytest.mark.django_db
def test_the_queries_to_watch_run_on_both_databases() -> None:
    queries = [line for line in block_of("What to watch", "sql").splitlines() if not line.startswith("--")]

    assert len(queries) == 6
    assert timetable.SWEEP_JOB in queries[0]
    with connection.cursor() as cursor:
        for query in queries:
            cursor.execute(query)
            assert cursor.fetchone() is not None


@pytest.mark.one_database
def test_backup_and_restore_as_on_the_page(tmp_path: Path) -> None:
    back_up, restore = [step.commands for step in pages.steps(PAGE)]
    with served(tmp_path / "var", "--only", "web"):
        run(back_up, tmp_path)

    assert (tmp_path / "hub.backup").is_file()
    assert "restored the hub as of" in run(restore, tmp_path)
    with served(tmp_path / "var", "--only", "web"):
        pass


def run(commands: str, folder: Path) -> str:
    environment = os.environ | {"BACKUPS": str(folder), "A2A_VAR": str(folder / "var"), "DATABASE_URL": ""}
    ended = subprocess.run(
        ["/bin/sh", "-ec", commands], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout
