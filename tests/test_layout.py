from importlib.metadata import version
from pathlib import Path

import pytest

import a2a_hub_client
import mailbox
from tests.support.hub import ROOT

pytestmark = pytest.mark.one_database


def test_the_mailbox_package_is_not_the_standard_library_s():
    assert Path(mailbox.__file__) == ROOT / "mailbox" / "__init__.py"


def test_the_installed_client_package_is_a_link_to_its_sources():
    assert Path(a2a_hub_client.__file__).parent == ROOT / "clients" / "python" / "src" / "a2a_hub_client"
    assert version("a2a-hub-client") == a2a_hub_client.__version__
