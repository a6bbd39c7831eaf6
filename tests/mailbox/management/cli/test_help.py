import argparse
from collections.abc import Iterator

import pytest
from django.core.management import load_command_class

pytestmark = pytest.mark.one_database


def parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from parsers(command)


COMMANDS = list(parsers(load_command_class("mailbox", "a2a").create_parser("manage.py", "a2a")))


def test_every_command_option_and_argument_has_a_help_text():
    unexplained = [
        f"{parser.prog} {action.metavar or action.dest}"
        for parser in COMMANDS
        for action in parser._actions
        if not action.help and not isinstance(action, argparse._SubParsersAction)
    ]

    assert len(COMMANDS) > 30
    assert unexplained == []


def test_the_help_shows_no_option_of_django():
    assert [parser.prog for parser in COMMANDS if "--settings" in parser.format_help()] == []
