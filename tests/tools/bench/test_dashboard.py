"""The measurement of the dashboard opens every page that it names. `make bench-dashboard` measures a million tasks."""

import json
import os
import subprocess
import sys

import pytest
from django.db import connection  # noqa: F401 (the condition of the mark)

from tests.support.hub import PATIENCE, ROOT


@pytest.mark.processes
@pytest.mark.skipif("connection.vendor != 'postgresql'", reason="the dashboard is measured on PostgreSQL")
def test_every_page_is_measured(tmp_path):
    options = ["--tasks", "2000", "--pairs", "2", "--looks", "1", "--flow", "0", "--output", str(tmp_path)]
    call = [sys.executable, "-m", "tools.bench.dashboard", *options]
    environment = os.environ | {"TEST_DATABASE_URL": os.environ["DATABASE_URL"]}

    ended = subprocess.run(call, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=2 * PATIENCE)

    assert ended.returncode == 0, ended.stderr
    (file,) = tmp_path.glob("*-dashboard.json")
    assert len(json.loads(file.read_text())["at rest"]) > 50
