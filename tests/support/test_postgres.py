from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.support.hub import ROOT

pytestmark = [pytest.mark.one_database, pytest.mark.processes]

RUN = [sys.executable, "-m", "tests.support.postgres"]


def test_the_command_gets_the_given_database_and_its_exit_code_is_returned():
    code = "import os; raise SystemExit(os.environ['DATABASE_URL'] != 'postgresql://given.example/hub' or 7)"
    environment = os.environ | {"TEST_DATABASE_URL": "postgresql://given.example/hub"}

    assert subprocess.call([*RUN, "--", sys.executable, "-c", code], cwd=ROOT, env=environment) == 7


def test_a_missing_command_is_a_usage_error():
    refused = subprocess.run(RUN, cwd=ROOT, capture_output=True, text=True)

    assert refused.returncode == 2
    assert "COMMAND" in refused.stderr
