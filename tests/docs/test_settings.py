import re

import pytest
from django.conf import settings

from tests.support import pages
from tests.support.hub import ROOT

pytestmark = pytest.mark.one_database

SET_BY_THE_HUB = {"A2A_IS_WEB_PROCESS", "A2A_IS_COMMAND_LINE"}


def test_every_listed_setting_is_read() -> None:
    source = "".join(path.read_text() for path in (ROOT / "a2aproject" / "settings").glob("*.py"))
    names = re.findall(r"`([A-Z][A-Z0-9_]+)`", pages.first_cells(pages.page("docs/reference/settings.md")))
    retry = "A2A_AUTO_RETRY_"

    assert len(names) > 20
    assert [name for name in names if f'"{name.removeprefix(retry)}"' not in source] == []


def test_every_setting_that_is_read_is_listed() -> None:
    read = {name for name in settings.A2A_ENVIRONMENT_READ if not name.startswith("COVENANT_")}
    listed = set(re.findall(r"`([A-Z][A-Z0-9_]+)`", pages.first_cells(pages.page("docs/reference/settings.md"))))

    assert read - SET_BY_THE_HUB - listed == set()
