"""The imports of each kind of process: processes that show no pages do not load them."""

import importlib.util
import json
import os
import subprocess
import sys

import pytest
from django.db import connection

from tests.support.databases import url_of_the_tests_database
from tests.support.hub import PATIENCE, ROOT

pytestmark = pytest.mark.one_database

PAGES = (
    *("a2aproject.admin", "a2aproject.urls", "dashboard.admin", "dashboard.base.page", "mailbox.dialects.base.view"),
    *("drf_spectacular.plumbing", "pydantic", "rest_framework.views"),
)
CLIENTS = ("httpcore", "httpx", "mailbox.outbound.exchange")
EXTRAS = (
    *("django.contrib.postgres.fields", "jwt", "mozilla_django_oidc", "opentelemetry", "pygments", "requests", "rich"),
    "urllib3",
)
SET_UP = "import django; django.setup()"
COMMAND = "from django.core.management import execute_from_command_line; execute_from_command_line"


def modules_of(program: str) -> set[str]:
    """Run the program in a new process with this test's database; return the modules it has loaded at its end."""
    last = "import json, sys; sys.stderr.write(json.dumps(list(sys.modules)))"
    own = {"DJANGO_SETTINGS_MODULE": "a2aproject.settings", "DATABASE_URL": url_of_the_tests_database()}
    ended = subprocess.run(
        [sys.executable, "-c", f"{program}; {last}"],
        cwd=ROOT,
        env=os.environ | own,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert ended.returncode == 0, ended.stderr
    return set(json.loads(ended.stderr))


@pytest.mark.parametrize(
    ("program", "unwanted"),
    [
        pytest.param(f"{COMMAND}(['manage.py', 'a2a', 'status'])", (*PAGES, *CLIENTS), id="command line"),
        pytest.param(f"{SET_UP}; from mailbox.background import courier, remote_sender", PAGES, id="carrier"),
        pytest.param(f"{SET_UP}; from mailbox.background import job_runner, jobs", PAGES, id="cluster"),
        pytest.param(
            f"{SET_UP}; from a2aproject.management.commands.serve import Command as Serve; "
            "Serve().check(tags=Serve.requires_system_checks)",
            PAGES,
            id="supervisor",
        ),
    ],
)
@pytest.mark.django_db
@pytest.mark.processes
def test_a_process_without_pages_does_not_load_them(program, unwanted):
    psycopg = () if connection.vendor == "postgresql" else ("psycopg",)

    assert modules_of(program) & {*unwanted, *psycopg} == set()


@pytest.mark.django_db
@pytest.mark.processes
def test_a_web_process_loads_no_package_of_an_extra_that_is_not_in_use():
    psycopg = () if connection.vendor == "postgresql" else ("psycopg",)
    loaded = modules_of("import a2aproject.wsgi")

    assert "rest_framework.views" in loaded
    assert loaded & {*EXTRAS, *CLIENTS, *psycopg} == set()


@pytest.mark.django_db
@pytest.mark.processes
def test_a_package_that_the_framework_did_not_load_can_be_imported_later():
    assert {"requests", "pygments", "psycopg"} <= modules_of(
        "import a2aproject.wsgi, requests, pygments, django.contrib.postgres.fields"
    )


@pytest.mark.parametrize("name", [*PAGES, *CLIENTS, *EXTRAS, "psycopg"])
def test_the_unwanted_modules_exist(name):
    assert importlib.util.find_spec(name) is not None


@pytest.mark.django_db
@pytest.mark.processes
def test_the_admin_s_checks_load_its_pages():
    program = f"{SET_UP}; from django.core.checks import run_checks; assert run_checks(tags=['admin']) == []"

    assert {"a2aproject.admin", "dashboard.admin.rows"} <= modules_of(program)
