"""What each kind of process imports: those that show no pages start without them."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.support.hub import ROOT, url_of_the_tests_database

SET_UP = "import django; django.setup()"


def modules_of(program: str) -> set[str]:
    """Run the lines in a process of its own, beside the database of this test; return the modules it ends with."""
    last = "import json, sys; sys.stderr.write(json.dumps(list(sys.modules)))"
    own = {"DJANGO_SETTINGS_MODULE": "a2aproject.settings", "DATABASE_URL": url_of_the_tests_database()}
    ended = subprocess.run(
        [sys.executable, "-c", f"{program}; {last}"],
        cwd=ROOT,
        env=os.environ | own,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ended.returncode == 0, ended.stderr
    return set(json.loads(ended.stderr))


@pytest.mark.django_db
def test_the_checks_of_the_admin_see_its_pages_though_nothing_loaded_them():
    program = f"{SET_UP}; from django.core.checks import run_checks; assert run_checks(tags=['admin']) == []"

    assert {"a2aproject.admin", "dashboard.admin.rows"} <= modules_of(program)
