import importlib
import subprocess
from pathlib import Path

import pytest

from tests.support.browser import browse, chromium, launched  # noqa: F401 (fixtures)
from tests.support.hub import PATIENCE, ROOT


@pytest.fixture(scope="session")
def site(site_tool: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site as `make site` does, and let each dead link and heading stop the build."""
    folder = tmp_path_factory.mktemp("site")
    importlib.import_module("docs.lay_out").main(folder)
    command = [".venv-docs/bin/zensical", "build", "--strict", "--config-file", str(folder / "zensical.toml")]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return folder / "html"
