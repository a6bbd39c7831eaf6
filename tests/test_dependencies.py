from __future__ import annotations

import ast
import re
import tomllib
from importlib.metadata import packages_distributions

import pytest

from tests.test_layout import PRODUCT, ROOT

pytestmark = pytest.mark.one_database


def test_every_declared_dependency_is_used(settings):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    declared = {normal(re.split(r"[^\w.-]", requirement)[0]) for requirement in project["dependencies"]}
    named = {path.split(".")[0] for path in [*settings.INSTALLED_APPS, *settings.MIDDLEWARE]}
    distributions = packages_distributions()
    used = {normal(name) for package in imported() | named for name in distributions.get(package, ())}

    assert declared <= used


def imported() -> set[str]:
    """Return the top-level packages that the product imports."""
    found: set[str] = set()
    for module in PRODUCT:
        for node in ast.walk(ast.parse(module.read_text())):
            if isinstance(node, ast.Import):
                found |= {name.name.split(".")[0] for name in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module.split(".")[0])
    return found


def normal(distribution: str) -> str:
    return re.sub(r"[-_.]+", "-", distribution).lower()
