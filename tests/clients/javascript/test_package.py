"""The JavaScript client by itself: its tests, its format, its generated parts and what it ships."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from mailbox.dialects.base.statuses import STATUS
from mailbox.dialects.base.transport import TRANSPORT_STATUS
from tests.clients.javascript.conftest import run
from tests.support import prose
from tests.support.clients.environments import PACKAGE, package_files

pytestmark = [pytest.mark.processes, pytest.mark.one_database]

GENERATED = PACKAGE / "src" / "openapi.ts"
MODULES = [path for path in package_files() if path.suffix in {".ts", ".mjs"} and path != GENERATED]
COMMENT = re.compile(r"/\*\*(.*?)\*/|(?:^|(?<=\s))(//[^\n]*(?:\n *//[^\n]*)*)", re.DOTALL | re.MULTILINE)
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


def test_the_comments_keep_the_rule_of_prose():
    passages = [passage for path in MODULES for passage in comments(path)]

    assert len(passages) > 100
    assert [str(fault) for passage in passages for fault in prose.faults(passage)] == []


def comments(path: Path) -> Iterator[prose.Passage]:
    """Yield the comments of a module of TypeScript or JavaScript."""
    for found in COMMENT.finditer(path.read_text()):
        block, line = found.groups()
        text = re.sub(r"(?m)^ *(\*|//) ?", "", block or line).strip()
        yield prose.Passage(f"{path.name}: {text[:40]}", text)


def test_modules_have_fewer_than_300_lines():
    assert len(MODULES) > 20
    assert [path.name for path in MODULES if len(path.read_text().splitlines()) >= 300] == []
