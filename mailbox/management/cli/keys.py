"""``keys add``, ``keys revoke``."""

from __future__ import annotations

from argparse import Namespace

from mailbox.gate.callers import Caller
from mailbox.management.cli import arguments, output
from mailbox.verbs.agents import keys
from mailbox.words import tokens


def add_commands(commands: arguments.Commands) -> None:
    group = commands.add_parser("keys", help="add and revoke API keys")
    verbs = group.add_subparsers(title="commands", metavar="COMMAND", required=True)

    add = verbs.add_parser("add", help="add a key for an agent or a person and print it, once")
    owner = add.add_mutually_exclusive_group(required=True)
    owner.add_argument("name", nargs="?", metavar="NAME", help="the agent")
    owner.add_argument("--user", metavar="USER", help="the person; the key acts with the person's role")
    add.add_argument(
        "--expires-at",
        type=arguments.instant("--expires-at"),
        metavar="TIME",
        help="ISO 8601 or epoch ms (default: never)",
    )
    arguments.add_json(add)
    add.set_defaults(run=_add)

    revoke = verbs.add_parser("revoke", help="revoke a key at once")
    revoke.add_argument("public_id", metavar="PUBLIC_ID", help="the eight characters after a2a_")
    arguments.add_json(revoke)
    revoke.set_defaults(run=_revoke)


def _add(options: Namespace) -> str:
    agent = arguments.agent(options.name) if options.name else None
    key = keys.add_key(Caller.command_line(), agent=agent, username=options.user, expires_at=options.expires_at)
    if options.json:
        return output.as_json({"kind": "a2a_key", "public_id": tokens.public_id(key), "api_key": key})
    return f"{key}\nKeep it: the hub never prints it again."


def _revoke(options: Namespace) -> str:
    revoked = keys.revoke_key(Caller.command_line(), options.public_id)
    if options.json:
        return output.as_json({"kind": "a2a_key_revoked", "public_id": revoked.public_id})
    return f"revoked key {revoked.public_id}"
