"""The commands of the page about backups work as written."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.support import pages
from tests.support.hub import PATIENCE, ROOT, served

pytestmark = pytest.mark.processes

PAGE = pages.page("docs/operate/backup-restore.md")


@pytest.mark.one_database
def test_backup_and_restore_as_on_the_page(tmp_path: Path) -> None:
    back_up, encrypt, restore = [step.commands for step in pages.steps(PAGE)]
    with served(tmp_path / "var"):
        run(back_up, tmp_path)
        assert "without the secret" not in run(encrypt, tmp_path)

    assert (tmp_path / "hub.backup").is_file()
    assert b"manifest.json" not in (tmp_path / "hub.encrypted").read_bytes()
    assert "restored the hub as of" in run(restore, tmp_path)
    with served(tmp_path / "var"):
        pass


def run(commands: str, folder: Path) -> str:
    environment = os.environ | {"BACKUPS": str(folder), "A2A_VAR": str(folder / "var"), "DATABASE_URL": ""}
    ended = subprocess.run(
        ["/bin/sh", "-ec", commands], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout
