import re
from argparse import _SubParsersAction

import pytest
from django.core.management import load_command_class

from tests.support import pages
from tools.lint.project import Project

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


def test_every_command_that_a_page_shows_exists() -> None:
    known = commands()
    shown = {page.path: re.findall(r"manage\.py a2a ([a-z-]+)", page.text) for page in Project().pages}

    assert sum(map(len, shown.values())) > 20
    assert [(path, name) for path, names in shown.items() for name in names if name not in known] == []
