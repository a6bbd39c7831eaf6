import ast
import subprocess
import sys
from pathlib import Path

import pytest

import a2a_hub_client

pytestmark = pytest.mark.one_database


def test_each_public_name_is_declared_for_type_checkers_at_its_module():
    tree = ast.parse(Path(a2a_hub_client.__file__).read_text("utf-8"))
    declared = {
        alias.asname: f"{node.module}"
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname
    }

    assert declared == {name: f"a2a_hub_client.{module}" for name, module in a2a_hub_client._MODULES.items()}


@pytest.mark.parametrize("name", a2a_hub_client.__all__)
def test_each_public_name_can_be_imported(name):
    assert getattr(a2a_hub_client, name).__name__ == name


def test_another_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        a2a_hub_client.Nothing  # noqa: B018


@pytest.mark.processes
def test_importing_the_package_imports_no_other():
    program = "import sys; before = set(sys.modules); import a2a_hub_client; print(*(set(sys.modules) - before))"

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert not {"httpx", "msgspec", "cryptography"} & set(done.stdout.split())
