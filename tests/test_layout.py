from __future__ import annotations

from pathlib import Path

import pytest

import mailbox

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = [
    path for name in ("a2aproject", "agentcards", "dashboard", "mailbox", "tests") if (path := ROOT / name).is_dir()
]
MODULES = [path for package in PACKAGES for path in package.rglob("*.py") if "migrations" not in path.parts]


def test_mailbox_is_ours_and_not_the_standard_library_s():
    assert Path(mailbox.__file__) == ROOT / "mailbox" / "__init__.py"


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_module_fits_in_the_head(module):
    assert len(module.read_text().splitlines()) < 300


def test_every_folder_of_modules_is_a_package():
    folders = {module.parent for module in MODULES}

    assert [folder for folder in folders if not (folder / "__init__.py").is_file()] == []
