from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.core.management import load_command_class

from tests.support import pages

pytestmark = pytest.mark.one_database


def commands() -> set[str]:
    usage = load_command_class("mailbox", "a2a").create_parser("manage.py", "a2a").format_help()
    return set(re.findall(r"^    ([a-z-]+)  ", usage, re.MULTILINE))


def test_the_listed_commands_are_the_commands_of_a2a() -> None:
    listed = re.findall(r"`([a-z-]+)[^`]*`", pages.first_cells(pages.page("docs/commands.md")))

    assert set(listed) == commands()


@pytest.mark.parametrize("page", pages.all_pages(), ids=lambda page: page.name)
def test_every_command_and_make_target_of_a_page_exists(page: Path) -> None:
    text = page.read_text()
    targets = set(re.findall(r"^([a-z-]+):", pages.page("Makefile"), re.MULTILINE))

    assert set(re.findall(r"manage\.py a2a ([a-z-]+)", text)) - commands() == set()
    assert set(re.findall(r"(?:`|^)(?:\w+=\S+ )?make ([a-z-]+)", text, re.MULTILINE)) - targets == set()
