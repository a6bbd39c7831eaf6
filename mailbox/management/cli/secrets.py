"""``secrets rotate``: the stored secrets, encrypted under a new SECRET_KEY."""

from __future__ import annotations

from argparse import Namespace

from mailbox.access.callers import Caller
from mailbox.management.cli import arguments, output


def add_commands(commands: arguments.Commands) -> None:
    group = commands.add_parser("secrets", help="encrypt the stored secrets under a new SECRET_KEY")
    verbs = group.add_subparsers(title="commands", metavar="COMMAND", required=True)

    rotate = verbs.add_parser(
        "rotate",
        help="encrypt each stored secret again, under the newest SECRET_KEY; can be repeated",
        description="Encrypts the secrets of callbacks and the URLs of remote agents again. SECRET_KEY is the new "
        "secret, and SECRET_KEY_FALLBACKS or the file secret_key_fallbacks has the earlier secrets.",
    )
    arguments.add_json(rotate)
    rotate.set_defaults(run=_rotate)


def _rotate(options: Namespace) -> str:
    from agentcards import secrets

    done = secrets.reseal(Caller.command_line())
    if options.json:
        counts = {"resealed": done.resealed, "unreadable": done.unreadable}
        return output.as_json({"kind": "a2a_secrets_rotated", **counts})
    lines = [f"encrypted {done.resealed} secret(s) again"]
    if done.unreadable:
        lines.append(f"{done.unreadable} cannot be read: SECRET_KEY_FALLBACKS lacks their secret")
    return "\n".join(lines)
