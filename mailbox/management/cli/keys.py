"""``keys add``, ``keys add-cert``, ``keys rotate``, ``keys revoke``."""

from argparse import FileType, Namespace
from datetime import timedelta

from mailbox.access.callers import Caller
from mailbox.access.credentials import keys
from mailbox.access.credentials.keys import NewKey
from mailbox.dialects.covenant import access_wire
from mailbox.management.cli import arguments, output

LEAST, USUAL, MOST = (
    span // timedelta(milliseconds=1) for span in (keys.LEAST_OVERLAP, keys.USUAL_OVERLAP, keys.MOST_OVERLAP)
)


def add_commands(commands: arguments.Commands) -> None:
    group = commands.add_parser("keys", help="add, rotate and revoke API keys")
    verbs = group.add_subparsers(title="commands", metavar="COMMAND", required=True)

    add = verbs.add_parser("add", help="add a key for an agent or a person and print it, once")
    owner = add.add_mutually_exclusive_group(required=True)
    owner.add_argument("name", nargs="?", metavar="NAME", help="the agent")
    owner.add_argument("--user", metavar="USER", help="the person; the key acts with the person's role")
    add.add_argument(
        "--expires-at",
        type=arguments.instant("--expires-at"),
        metavar="TIME",
        help="ISO 8601 or epoch ms (default: after A2A_KEY_MAX_AGE_MS, else never)",
    )
    arguments.add_json(add)
    add.set_defaults(run=_add)

    bind = verbs.add_parser("add-cert", help="let the holder of a client certificate act as an agent without a key")
    bind.add_argument("name", metavar="NAME", help="the agent")
    bind.add_argument("file", type=FileType(), metavar="FILE", help="the certificate as PEM; - for standard input")
    arguments.add_json(bind)
    bind.set_defaults(run=_bind)

    rotate = verbs.add_parser("rotate", help="replace a key and print the new key, once; both are valid for a while")
    rotate.add_argument("public_id", metavar="PUBLIC_ID", help="the eight characters after a2a_ of the old key")
    rotate.add_argument(
        "--overlap-ms",
        type=arguments.integer("--overlap-ms", least=LEAST, most=MOST),
        default=USUAL,
        metavar="N",
        help="the old key stays valid for N milliseconds (default: %(default)s)",
    )
    arguments.add_json(rotate)
    rotate.set_defaults(run=_rotate)

    revoke = verbs.add_parser("revoke", help="revoke a key at once")
    revoke.add_argument("public_id", metavar="PUBLIC_ID", help="the eight characters after a2a_")
    revoke.add_argument("--with-made", action="store_true", help="also revoke the keys that were made with it")
    arguments.add_json(revoke)
    revoke.set_defaults(run=_revoke)


def _add(options: Namespace) -> str:
    agent = arguments.agent(options.name) if options.name else None
    made = keys.add_key(Caller.command_line(), agent=agent, username=options.user, expires_at=options.expires_at)
    return output.as_json(access_wire.new_key(made)) if options.json else _shown(made)


def _bind(options: Namespace) -> str:
    with options.file as file:
        row = keys.bind_certificate(Caller.command_line(), arguments.agent(options.name), file.read())
    if options.json:
        return output.as_json(access_wire.certificate(row))
    return f"bound the certificate with the public key {row.digest}\nRevoke it with: keys revoke {row.public_id}"


def _rotate(options: Namespace) -> str:
    overlap = timedelta(milliseconds=options.overlap_ms)
    made = keys.rotate_key(Caller.command_line(), public_id=options.public_id, overlap=overlap)
    if options.json:
        return output.as_json(access_wire.rotated(made))
    return f"{_shown(made.new)}\nThe old key expires at {output.moment(made.overlap_ends_at)}."


def _shown(made: NewKey) -> str:
    ends = f" It expires at {output.moment(made.row.expires_at)}." if made.row.expires_at else ""
    return f"{made.secret}\nKeep it: the hub never prints it again.{ends}"


def _revoke(options: Namespace) -> str:
    revoked = keys.revoke_key(Caller.command_line(), options.public_id, with_made=options.with_made)
    if options.json:
        return output.as_json(access_wire.key_revoked(revoked))
    return "\n".join(f"revoked key {key.public_id}" for key in revoked)
