"""The JavaScript client by itself: its tests, its format, its generated parts and what it ships."""

import json
import re
from io import StringIO

import pytest
from django.core.management import call_command

from mailbox.dialects.base.http_errors import STATUS, TRANSPORT_STATUS
from tests.clients.javascript.conftest import run
from tests.support.clients.environments import PACKAGE

pytestmark = [pytest.mark.processes, pytest.mark.one_database]

GENERATED = PACKAGE / "src" / "openapi.ts"
TOOLS = {"@types/node", "openapi-typescript", "prettier", "typescript"}


def test_its_own_tests_pass(package):
    modules = sorted(str(path.relative_to(package)) for path in package.glob("dist/test/*.test.js"))
    printed = run(["node", "--test", *modules], package)

    assert int(re.findall(r"^# pass (\d+)$", printed, re.MULTILINE)[0]) > 30


def test_it_is_formatted(package):
    run(["node", "node_modules/prettier/bin/prettier.cjs", "--check", "src", "test", "*.json", "*.mjs"], package)


def test_the_types_are_those_of_the_hub_s_description(package, tmp_path):
    described = StringIO()
    call_command("spectacular", format="openapi-json", stdout=described)
    document = tmp_path / "openapi.json"
    document.write_text(described.getvalue())

    run(["sh", "-c", f'node generate.mjs "{tmp_path}/openapi.ts" < "{document}"'], package)

    assert (tmp_path / "openapi.ts").read_text() == GENERATED.read_text(), "run `make client-types`"


def test_the_codes_are_those_of_the_hub():
    table = re.findall(r"^  (\w+): (\d+),$", (PACKAGE / "src" / "codes.ts").read_text(), re.MULTILINE)

    assert {code: int(status) for code, status in table} == {
        error.code: int(status) for error, status in {**STATUS, **TRANSPORT_STATUS}.items()
    }


def test_it_ships_its_types_and_needs_no_package(package):
    (packed,) = json.loads(run(["npm", "pack", "--dry-run", "--ignore-scripts", "--json"], package))
    project = json.loads((PACKAGE / "package.json").read_text())

    shipped = {file["path"] for file in packed["files"]}

    assert {"LICENSE", "README.md", "dist/src/index.js", "dist/src/index.d.ts"} <= shipped
    assert [path for path in shipped if "test" in path] == []
    assert "dependencies" not in project
    assert project["devDependencies"].keys() == TOOLS


def test_the_pinned_tools_name_no_registry():
    lock = json.loads((PACKAGE / "package-lock.json").read_text())
    pinned = {path: entry for path, entry in lock["packages"].items() if path}

    assert {path.removeprefix("node_modules/") for path in pinned} >= TOOLS
    assert [path for path, entry in pinned.items() if "resolved" in entry or "integrity" not in entry] == []
