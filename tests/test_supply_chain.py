"""The pinned packages: every one has its hashes, the tools stay apart, and an audit never passes unchecked."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from types import ModuleType

import pytest

from tests.support.hub import ROOT

pytestmark = pytest.mark.one_database

OFFICIAL = ("a2a-client-1.txt", "a2a-client-0.3.txt", "a2a-server.txt")
FILES = ("base.txt", "extras.txt", "dev.txt", "audit.txt", "docs.txt", *OFFICIAL)
SOUND = {"name": "sound", "version": "1.0", "vulns": []}
WEAK = {"name": "weak", "version": "1.0", "vulns": [{"id": "CVE-2026-1", "fix_versions": ["1.1"]}]}
UNKNOWN = {"name": "hidden", "skip_reason": "not found"}


def pinned(file: str) -> str:
    return (ROOT / "requirements" / file).read_text()


def names(file: str) -> set[str]:
    return set(re.findall(r"^([\w.\[\]-]+)==", pinned(file), re.MULTILINE))


@pytest.fixture
def audit() -> ModuleType:
    spec = importlib.util.spec_from_file_location("audit", ROOT / "requirements" / "audit.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("file", FILES)
def test_every_pinned_package_has_its_hashes_and_no_index_is_named(file):
    packages = re.split(r"\n(?=\w)", pinned(file).partition("make lock\n")[2])

    assert [package for package in packages if "--hash=sha256:" not in package] == []
    assert not re.search(r"https?://|index-url|find-links", pinned(file))


def test_every_pinned_javascript_package_has_its_hash_and_no_registry_is_named():
    lock = json.loads(pinned("a2a-client-js/package-lock.json"))

    packages = {path: package for path, package in lock["packages"].items() if path}
    assert [path for path, package in packages.items() if not package["integrity"].startswith("sha512-")] == []
    assert [path for path, package in packages.items() if "resolved" in package] == []


def test_the_tools_of_the_audit_and_of_the_site_are_in_no_other_environment():
    assert {"pip-audit", "cyclonedx-bom"} <= names("audit.txt")
    assert "zensical" in names("docs.txt")
    assert not {"pip-audit", "cyclonedx-bom", "lxml", "pip", "zensical"} & (names("base.txt") | names("dev.txt"))


@pytest.mark.parametrize(
    ("packages", "status"),
    [
        ([SOUND], 0),
        ([SOUND, WEAK], 1),
        ([SOUND, WEAK, UNKNOWN], 1),
        ([SOUND, UNKNOWN], 3),
        ([UNKNOWN], 3),
        ([], 3),
    ],
)
def test_an_audit_passes_only_if_every_package_was_looked_up(audit, packages, status, capsys):
    assert audit.judged("base.txt", packages) == status
    assert ("NOT CHECKED" in capsys.readouterr().out) == (UNKNOWN in packages or not packages)


@pytest.mark.parametrize(("answer", "status"), [(json.dumps({"dependencies": [SOUND]}), 0), ("", 3), ("no data", 3)])
def test_an_audit_without_data_says_so(audit, tmp_path, monkeypatch, capsys, answer, status):
    program = tmp_path / "pip-audit"
    program.write_text(f"#!/bin/sh\nprintf '%s' '{answer}'\necho 'no network' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))

    assert audit.main(["base.txt", "dev.txt"]) == status
    assert ("NOT CHECKED" in capsys.readouterr().out) == (status == 3)


def test_the_extras_add_packages_to_those_of_the_hub_and_change_none():
    def pins(file: str) -> set[str]:
        return set(re.findall(r"^[\w.\[\]-]+==[\w.]+", pinned(file), re.MULTILINE))

    assert pins("base.txt") < pins("extras.txt") < pins("dev.txt")
    assert {"mozilla-django-oidc", "opentelemetry-sdk"} <= names("extras.txt") - names("base.txt")
