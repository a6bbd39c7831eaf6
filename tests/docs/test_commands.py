from __future__ import annotations

import re

import pytest
from django.core.management import load_command_class

from tests.support import pages

pytestmark = pytest.mark.one_database


def test_the_listed_commands_are_the_commands_of_a2a() -> None:
    usage = load_command_class("mailbox", "a2a").create_parser("manage.py", "a2a").format_help()
    listed = re.findall(r"`([a-z-]+)[^`]*`", pages.first_cells(pages.page("docs/commands.md")))

    assert set(listed) == set(re.findall(r"^    ([a-z-]+)  ", usage, re.MULTILINE))
