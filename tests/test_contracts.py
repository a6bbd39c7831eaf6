"""The import contracts of pyproject.toml catch forbidden imports of each kind, also in new modules.

`make lint` checks the code itself.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import a2a_hub_client
from tests.support.hub import PATIENCE, ROOT

pytestmark = [pytest.mark.one_database, pytest.mark.deep, pytest.mark.processes]

LINT = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
FAULTS = {  # a module: its forbidden import
    "mailbox/life/planted.py": "mailbox.dialects.covenant.wire",
    "mailbox/access/people/planted.py": "mailbox.access.agents.grants",
    "mailbox/upkeep/planted.py": "pydantic",
    "mailbox/inspection/planted.py": "mailbox.life.expiry",
    "mailbox/access/planted.py": "rest_framework.views",
    "mailbox/access/credentials/planted.py": "mailbox.access.limits.waits",
    "mailbox/journal/planted.py": "mailbox.access.callers",
    "mailbox/inspection/statistics/planted.py": "mailbox.inspection.search.queries",
    "mailbox/life/fast_path/planted.py": "mailbox.life.sending",
    "mailbox/models/planted.py": "mailbox.journal.seals",
    "mailbox/models/planted_query.py": "mailbox.database.compiled",
    "mailbox/words/planted.py": "mailbox.models.task",
    "mailbox/outbound/planted.py": "mailbox.database.paging",
    "mailbox/dialects/yeoman/planted.py": "mailbox.dialects.covenant.wire",
    "mailbox/dialects/planted/views.py": "mailbox.dialects.corvid.wire",
    "mailbox/dialects/base/planted.py": "mailbox.dialects.marianne.wire",
    "mailbox/background/planted.py": "dashboard.wording.journal",
    "a2a_hub_client/worker/planted.py": "django.conf",
    "a2a_hub_client/planted.py": "mailbox.words.content",
    "agentcards/planted.py": "mailbox.in_process",
    "dashboard/base/planted.py": "a2aproject.web.errors",
}


@pytest.fixture
def copy(tmp_path):
    """Return a copy of the code and its contracts."""
    for name in ("a2aproject", "agentcards", "dashboard", "mailbox"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    client = Path(a2a_hub_client.__file__).parent
    shutil.copytree(client, tmp_path / client.name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def lint(folder):
    done = subprocess.run(LINT, cwd=folder, capture_output=True, text=True, timeout=PATIENCE)
    return done.returncode, "".join(done.stdout.split())


def test_every_forbidden_import_is_reported(copy):
    for path, imported in FAULTS.items():
        module = copy / path
        module.parent.mkdir(exist_ok=True)
        (module.parent / "__init__.py").touch()
        module.write_text(f"import {imported}\n")

    code, report = lint(copy)

    assert code == 1
    named = {path: path.removesuffix(".py").replace("/", ".") for path in FAULTS}
    assert [path for path, name in named.items() if f"{name}->" not in report] == []


def test_a_package_outside_the_layers_is_reported(copy):
    (copy / "mailbox" / "flat.py").touch()
    (copy / "mailbox" / "access" / "new_room").mkdir()
    (copy / "mailbox" / "access" / "new_room" / "__init__.py").touch()

    code, report = lint(copy)

    assert code == 1
    assert "-mailbox.flat" in report
    assert "-mailbox.access.new_room" in report
