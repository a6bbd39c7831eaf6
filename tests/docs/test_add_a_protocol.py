"""The steps of docs/contribute/add-a-protocol.md lead to a dialect that passes the conformance suite."""

import re
import shutil
import subprocess
import sys

import pytest

from tests.support.hub import PATIENCE, ROOT

pytestmark = [pytest.mark.one_database, pytest.mark.processes]

PAGE = (ROOT / "docs" / "contribute" / "add-a-protocol.md").read_text()
COPIED = ("a2aproject", "agentcards", "dashboard", "mailbox", "templates", "tests", "pyproject.toml", "manage.py")
LAST_URLS = '    path("", include("mailbox.dialects.yeoman.urls")),\n'


@pytest.fixture
def project(tmp_path):
    """Return a copy of the project."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, tmp_path)
    return tmp_path


def test_a_dialect_that_is_added_by_the_page_conforms(project):
    commands, *_ = re.findall(r"```sh\n(cp .*?)```", PAGE, re.DOTALL)
    (mounted,) = re.findall(r"^    path\(.*ping.urls.*\n", PAGE, re.MULTILINE)
    urls = project / "a2aproject" / "urls.py"

    subprocess.run(commands, cwd=project, shell=True, check=True, timeout=PATIENCE)  # noqa: S602 the page's own words
    urls.write_text(urls.read_text().replace(LAST_URLS, LAST_URLS + mounted))
    conforming = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "Ping or registers"]
    tested = subprocess.run(
        [*conforming, "tests/mailbox/dialects/conformance"],
        cwd=project,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )

    assert tested.returncode == 0, tested.stdout
    assert " passed" in tested.stdout
