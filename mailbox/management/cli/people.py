"""``people reset-second-factor``."""

from argparse import Namespace

from mailbox.access.callers import Caller
from mailbox.access.people import second_factor
from mailbox.management.cli import arguments, output


def add_commands(commands: arguments.Commands) -> None:
    group = commands.add_parser("people", help="help people who cannot sign in")
    verbs = group.add_subparsers(title="commands", metavar="COMMAND", required=True)

    reset = verbs.add_parser("reset-second-factor", help="remove a person's lost second factor and recovery codes")
    reset.add_argument("name", metavar="NAME", help="the person")
    arguments.add_json(reset)
    reset.set_defaults(run=_reset)


def _reset(options: Namespace) -> str:
    was_removed = second_factor.reset(Caller.command_line(), options.name)
    if options.json:
        return output.as_json({"kind": "a2a_second_factor_reset", "username": options.name, "removed": was_removed})
    return f"{options.name} signs in with the password alone" + ("" if was_removed else ", as before")
