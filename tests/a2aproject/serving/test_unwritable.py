"""A hub that may write no byte, as on a full or a read-only disk: one sentence, no traceback."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.support.hub import PATIENCE, ROOT

pytestmark = [pytest.mark.processes, pytest.mark.one_database]
ONE_SENTENCE = "CommandError: {} database cannot be used: disk I/O error"
NO_BYTE = ("-m", "tests.support.limits", "FSIZE", "0", sys.executable)


def run(var, *arguments, unwritable=True):
    limited = NO_BYTE if unwritable else ()
    return subprocess.run(
        [sys.executable, *limited, "manage.py", *arguments],
        cwd=ROOT,
        env=os.environ | {"A2A_VAR": str(var), "DATABASE_URL": "", "SECRET_KEY": "", "PORT": "0"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


@pytest.fixture(scope="module")
def migrated(tmp_path_factory):
    var = tmp_path_factory.mktemp("migrated")
    assert run(var, "migrate", "-v0", unwritable=False).returncode == 0
    return var


@pytest.mark.parametrize("command", [("serve",), ("a2a", "status"), ("a2a", "agents", "list")])
def test_an_unwritable_database_is_reported_in_one_sentence(migrated, command):
    refused = run(migrated, *command)

    assert (refused.returncode, refused.stdout) == (1, "")
    assert ONE_SENTENCE.format("the" if command[0] == "a2a" else "The") in refused.stderr
    assert refused.stderr.count("\n") == 1


def test_a_folder_in_which_no_secret_can_be_stored_is_named(tmp_path):
    refused = run(tmp_path, "serve")

    assert refused.returncode == 1
    assert refused.stderr == f"A2A_VAR: the hub cannot use {tmp_path}: File too large.\n"
    assert list(tmp_path.iterdir()) == []


def test_a_missing_table_is_reported_with_the_command_that_makes_it(migrated, tmp_path):
    shutil.copytree(migrated, tmp_path, dirs_exist_ok=True)
    (tmp_path / "hub.sqlite3").write_bytes(b"")

    refused = run(tmp_path, "a2a", "status", unwritable=False)

    assert refused.returncode == 1
    assert "no such table" in refused.stderr
    assert "`manage.py migrate` prepares it." in refused.stderr
    assert "migrate" not in run(migrated, "a2a", "status").stderr
