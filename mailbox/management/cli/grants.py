"""``grant``, ``revoke``, ``grants list``."""

from argparse import Namespace

from django.utils import timezone

from mailbox.access.agents import grants
from mailbox.access.callers import Caller
from mailbox.database import paging
from mailbox.dialects.covenant import access_wire
from mailbox.inspection import lists
from mailbox.management.cli import arguments, output
from mailbox.models import CapabilityGrant

PAGE = 1000


def add_commands(commands: arguments.Commands) -> None:
    give = commands.add_parser("grant", help="grant an agent a capability")
    give.add_argument("name", metavar="NAME", help="the agent")
    give.add_argument("action", metavar="ACTION", help="for example a2a.send.research@local or a2a.repair.requeue")
    give.add_argument(
        "--scope",
        type=arguments.json_object("--scope"),
        metavar="JSON",
        help='only for requests that match, for example {"version": 1, "task_id": "ID"}',
    )
    give.add_argument(
        "--expires-at",
        type=arguments.instant("--expires-at"),
        metavar="TIME",
        help="ISO 8601 or epoch ms (default: never)",
    )
    give.add_argument(
        "--max-uses",
        type=arguments.integer("--max-uses", least=1),
        metavar="N",
        help="how often it can be used (default: no limit)",
    )
    arguments.add_json(give)
    give.set_defaults(run=_grant)

    take = commands.add_parser("revoke", help="revoke a grant and every grant made from it")
    take.add_argument(
        "grant_id", type=arguments.uuid("grant-id"), metavar="ID", help="the id that `grants list` prints"
    )
    arguments.add_json(take)
    take.set_defaults(run=_revoke)

    group = commands.add_parser("grants", help="list grants")
    verbs = group.add_subparsers(title="commands", metavar="COMMAND", required=True)
    listed = verbs.add_parser("list", help="list all grants, also revoked and expired, newest first")
    arguments.add_json(listed)
    listed.set_defaults(run=_list)


def _grant(options: Namespace) -> str:
    made = grants.grant(
        Caller.command_line(),
        arguments.agent(options.name),
        options.action,
        scope=options.scope,
        expires_at=options.expires_at,
        max_uses=options.max_uses,
    )
    if options.json:
        return output.as_json(access_wire.granted(made))
    return f"granted {made.action} to {made.subject}: {made.grant_id}"


def _revoke(options: Namespace) -> str:
    revoked = grants.revoke(Caller.command_line(), options.grant_id)
    if options.json:
        return output.as_json(access_wire.revoked(revoked))
    return f"revoked {revoked.action} of {revoked.subject}"


def _list(options: Namespace) -> str:
    grants = list(paging.every(lambda cursor: lists.grants(Caller.command_line(), limit=PAGE, cursor=cursor)))
    if options.json:
        return output.as_json({"kind": "capabilities", "capabilities": [access_wire.capability(one) for one in grants]})
    rows = [(str(one.grant_id), one.subject.display, one.action, _standing(one), one.scope) for one in grants]
    return output.lines(output.columns(rows), none="(no grants)")


def _standing(grant: CapabilityGrant) -> str:
    if grant.revoked_at is not None:
        return "revoked"
    if grant.expires_at is not None and grant.expires_at < timezone.now():
        return "expired"
    used = f"{grant.uses} of {grant.max_uses} used" if grant.max_uses is not None else None
    until = f"until {output.moment(grant.expires_at)}" if grant.expires_at is not None else None
    return ", ".join(filter(None, (used, until))) or "live"
