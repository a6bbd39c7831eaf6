from __future__ import annotations

import re
from argparse import _SubParsersAction
from pathlib import Path

import pytest
from django.core.management import load_command_class

from tests.support import pages
from tests.support.hub import ROOT

pytestmark = pytest.mark.one_database


def commands_without_a_database() -> list[str]:
    """Return the commands that `a2a` runs without opening the hub's database first."""
    parser = load_command_class("mailbox", "a2a").create_parser("manage.py", "a2a")
    (subparsers,) = [action for action in parser._actions if isinstance(action, _SubParsersAction)]
    return [name for name, command in subparsers.choices.items() if command.get_default("skip_checks")]


def commands() -> set[str]:
    usage = load_command_class("mailbox", "a2a").create_parser("manage.py", "a2a").format_help()
    return set(re.findall(r"^    ([a-z-]+)  ", usage, re.MULTILINE))


def test_the_listed_commands_are_the_commands_of_a2a() -> None:
    listed = re.findall(r"`([a-z-]+)[^`]*`", pages.first_cells(pages.page("docs/reference/manage.md")))

    assert set(listed) == commands()


def test_the_page_names_every_command_that_needs_no_database() -> None:
    named = re.findall(r"All commands except (.*) open the hub's database", pages.page("docs/reference/manage.md"))

    assert named == [" and ".join(f"`{name}`" for name in commands_without_a_database())]


@pytest.mark.parametrize("page", pages.all_pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_module_of_the_tests_that_a_page_runs_takes_its_options(page: Path) -> None:
    for module, words in re.findall(r"-m (tests[\w.]*\w)((?: (?!-- )[^\s#`]+)*)", page.read_text()):
        path = ROOT / module.replace(".", "/")
        source = (path / "__main__.py" if path.is_dir() else path.with_suffix(".py")).read_text()
        assert [option for option in re.findall(r"--[a-z-]+", words) if f'"{option}"' not in source] == [], module


@pytest.mark.parametrize("page", pages.all_pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_and_make_target_of_a_page_exists(page: Path) -> None:
    text = page.read_text()
    targets = set(re.findall(r"^([a-z-]+):", pages.page("Makefile"), re.MULTILINE))

    assert set(re.findall(r"manage\.py a2a ([a-z-]+)", text)) - commands() == set()
    assert set(re.findall(r"(?:`|^)(?:\w+=\S+ )?make ([a-z-]+)", text, re.MULTILINE)) - targets == set()
