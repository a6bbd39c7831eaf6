"""An audit of the pinned packages never passes unchecked."""

import importlib.util
import json
import sys
from types import ModuleType

import pytest

from tests.support.hub import ROOT

pytestmark = pytest.mark.one_database

SOUND = {"name": "sound", "version": "1.0", "vulns": []}
WEAK = {"name": "weak", "version": "1.0", "vulns": [{"id": "CVE-2026-1", "fix_versions": ["1.1"]}]}
UNKNOWN = {"name": "hidden", "skip_reason": "not found"}


@pytest.fixture
def audit() -> ModuleType:
    spec = importlib.util.spec_from_file_location("audit", ROOT / "requirements" / "audit.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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


@pytest.mark.processes
@pytest.mark.parametrize(("answer", "status"), [(json.dumps({"dependencies": [SOUND]}), 0), ("", 3), ("no data", 3)])
def test_an_audit_without_data_says_so(audit, tmp_path, monkeypatch, capsys, answer, status):
    program = tmp_path / "pip-audit"
    program.write_text(f"#!/bin/sh\nprintf '%s' '{answer}'\necho 'no network' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))

    assert audit.main(["base.txt", "dev.txt"]) == status
    assert ("NOT CHECKED" in capsys.readouterr().out) == (status == 3)
