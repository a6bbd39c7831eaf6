"""``route add``, ``route list``, ``route revoke``: public routes, for clients that cannot authenticate."""

from argparse import Namespace

from django.conf import settings

from mailbox.access import credential_lists
from mailbox.access.callers import Caller
from mailbox.access.credentials import public_routes
from mailbox.database import paging
from mailbox.dialects.covenant import access_wire
from mailbox.management.cli import arguments, output
from mailbox.models import PublicRoute

PAGE = 1000


def add_commands(commands: arguments.Commands) -> None:
    group = commands.add_parser("route", help="add, list and revoke public routes: secret URLs that act as an agent")
    verbs = group.add_subparsers(title="commands", metavar="COMMAND", required=True)

    add = verbs.add_parser(
        "add",
        help="add a public route and print its URL, once",
        description="A client with the URL can only send tasks as the agent, and read the tasks that the agent sent.",
    )
    add.add_argument("name", metavar="NAME", help="the agent that the route acts as")
    add.add_argument(
        "--rate",
        type=arguments.integer("--rate", least=1, most=public_routes.HIGHEST_RATE),
        default=settings.A2A_ROUTE_RATE_LIMIT_PER_MIN,
        metavar="N",
        help="requests a minute (default: %(default)s)",
    )
    arguments.add_json(add)
    add.set_defaults(run=_add)

    listed = verbs.add_parser("list", help="list all public routes, also revoked, newest first")
    arguments.add_json(listed)
    listed.set_defaults(run=_list)

    revoke = verbs.add_parser("revoke", help="revoke a public route; the next request is refused")
    revoke.add_argument("public_id", metavar="ID", help="the eight characters after p_ in the URL")
    arguments.add_json(revoke)
    revoke.set_defaults(run=_revoke)


def _add(options: Namespace) -> str:
    made = public_routes.add(Caller.command_line(), arguments.agent(options.name), rate_limit=options.rate)
    shown = access_wire.new_route(made)
    if options.json:
        return output.as_json(shown)
    return f"{shown['url']}\nGive it to the client as its base URL. Keep it: the hub never prints it again."


def _list(options: Namespace) -> str:
    caller = Caller.command_line()
    routes = paging.every(lambda cursor: credential_lists.public_routes(caller, limit=PAGE, cursor=cursor))
    if options.json:
        return output.as_json({"kind": "a2a_routes", "routes": [access_wire.route(route) for route in routes]})
    return output.lines(output.columns([_row(route) for route in routes]), none="(no routes)")


def _revoke(options: Namespace) -> str:
    route = public_routes.revoke(Caller.command_line(), options.public_id)
    if options.json:
        return output.as_json(access_wire.route_revoked(route))
    return f"revoked route {route.public_id} of {route.agent}"


def _row(route: PublicRoute) -> tuple[str, ...]:
    used = f"used {output.moment(route.last_used_at)}" if route.last_used_at else "never used"
    state = "revoked" if route.revoked_at else "live"
    return route.public_id, route.agent.display, state, f"{route.rate_limit}/min", used
