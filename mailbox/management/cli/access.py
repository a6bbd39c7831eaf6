"""The commands about access: ``keys``, ``people``, ``grant``, ``revoke``, ``grants`` and ``route``."""

from argparse import FileType, Namespace
from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from mailbox.access import credential_lists
from mailbox.access.agents import grants
from mailbox.access.callers import Caller
from mailbox.access.credentials import keys, public_routes
from mailbox.access.people import second_factor
from mailbox.database import paging
from mailbox.dialects.covenant import access_wire
from mailbox.inspection import lists
from mailbox.management.cli import arguments, output
from mailbox.management.cli.arguments import NAME, argument, command
from mailbox.models import CapabilityGrant, PublicRoute

PAGE = 1000
LEAST, USUAL, MOST = (
    span // timedelta(milliseconds=1) for span in (keys.LEAST_OVERLAP, keys.USUAL_OVERLAP, keys.MOST_OVERLAP)
)


def add_commands(commands: arguments.Commands) -> None:
    _add_key_commands(commands)
    verbs = arguments.group(commands, "people", "help people who cannot sign in")
    person = argument("name", metavar="NAME", help="the person")
    what = "remove a person's lost second factor and recovery codes"
    command(verbs, "reset-second-factor", _reset, person, help=what)
    _add_grant_commands(commands)
    _add_route_commands(commands)


def _expiry(default: str) -> arguments.Argument:
    reads = arguments.instant("--expires-at")
    return argument("--expires-at", type=reads, metavar="TIME", help=f"ISO 8601 or epoch ms (default: {default})")


def _add_key_commands(commands: arguments.Commands) -> None:
    verbs = arguments.group(commands, "keys", "add, rotate and revoke API keys")
    owner = arguments.either(
        argument("name", nargs="?", metavar="NAME", help="the agent"),
        argument("--user", metavar="USER", help="the person; the key acts with the person's role"),
        required=True,
    )
    expiry = _expiry("after A2A_KEY_MAX_AGE_MS, else never")
    command(verbs, "add", _add_key, owner, expiry, help="add a key for an agent or a person and print it, once")
    file = argument("file", type=FileType(), metavar="FILE", help="the certificate as PEM; - for standard input")
    what = "let the holder of a client certificate act as an agent without a key"
    command(verbs, "add-cert", _bind, NAME, file, help=what)
    command(
        verbs,
        "rotate",
        _rotate,
        argument("public_id", metavar="PUBLIC_ID", help="the eight characters after a2a_ of the old key"),
        arguments.number(
            "--overlap-ms",
            least=LEAST,
            most=MOST,
            default=USUAL,
            help="the old key stays valid for N milliseconds (default: %(default)s)",
        ),
        help="replace a key and print the new key, once; both are valid for a while",
    )
    command(
        verbs,
        "revoke",
        _revoke_key,
        argument("public_id", metavar="PUBLIC_ID", help="the eight characters after a2a_"),
        argument("--with-made", action="store_true", help="also revoke the keys that were made with it"),
        help="revoke a key at once",
    )


def _add_key(options: Namespace) -> str:
    agent = arguments.agent(options.name) if options.name else None
    made = keys.add_key(Caller.command_line(), agent=agent, username=options.user, expires_at=options.expires_at)
    return output.answer(options, access_wire.new_key(made), _shown(made))


def _bind(options: Namespace) -> str:
    with options.file as file:
        row = keys.bind_certificate(Caller.command_line(), arguments.agent(options.name), file.read())
    text = f"bound the certificate with the public key {row.digest}\nRevoke it with: keys revoke {row.public_id}"
    return output.answer(options, access_wire.certificate(row), text)


def _rotate(options: Namespace) -> str:
    overlap = timedelta(milliseconds=options.overlap_ms)
    made = keys.rotate_key(Caller.command_line(), public_id=options.public_id, overlap=overlap)
    text = f"{_shown(made.new)}\nThe old key expires at {output.moment(made.overlap_ends_at)}."
    return output.answer(options, access_wire.rotated(made), text)


def _shown(made: keys.NewKey) -> str:
    ends = f" It expires at {output.moment(made.row.expires_at)}." if made.row.expires_at else ""
    return f"{made.secret}\nKeep it: the hub never prints it again.{ends}"


def _revoke_key(options: Namespace) -> str:
    revoked = keys.revoke_key(Caller.command_line(), options.public_id, with_made=options.with_made)
    text = "\n".join(f"revoked key {key.public_id}" for key in revoked)
    return output.answer(options, access_wire.key_revoked(revoked), text)


def _reset(options: Namespace) -> str:
    was_removed = second_factor.reset(Caller.command_line(), options.name)
    shown = {"kind": "a2a_second_factor_reset", "username": options.name, "removed": was_removed}
    text = f"{options.name} signs in with the password alone" + ("" if was_removed else ", as before")
    return output.answer(options, shown, text)


def _add_grant_commands(commands: arguments.Commands) -> None:
    command(
        commands,
        "grant",
        _grant,
        NAME,
        argument("action", metavar="ACTION", help="for example a2a.send.research@local or a2a.repair.requeue"),
        argument(
            "--scope",
            type=arguments.json_object("--scope"),
            metavar="JSON",
            help='only for requests that match, for example {"version": 1, "task_id": "ID"}',
        ),
        _expiry("never"),
        arguments.number("--max-uses", least=1, help="how often it can be used (default: no limit)"),
        help="grant an agent a capability",
    )
    grant_id = arguments.identity("grant-id", metavar="ID", help="the id that `grants list` prints")
    command(commands, "revoke", _revoke_grant, grant_id, help="revoke a grant and every grant made from it")
    verbs = arguments.group(commands, "grants", "list grants")
    command(verbs, "list", _list_grants, help="list all grants, also revoked and expired, newest first")


def _grant(options: Namespace) -> str:
    made = grants.grant(
        Caller.command_line(),
        arguments.agent(options.name),
        options.action,
        scope=options.scope,
        expires_at=options.expires_at,
        max_uses=options.max_uses,
    )
    text = f"granted {made.action} to {made.subject}: {made.grant_id}"
    return output.answer(options, access_wire.granted(made), text)


def _revoke_grant(options: Namespace) -> str:
    revoked = grants.revoke(Caller.command_line(), options.grant_id)
    return output.answer(options, access_wire.revoked(revoked), f"revoked {revoked.action} of {revoked.subject}")


def _list_grants(options: Namespace) -> str:
    made = list(paging.every(lambda cursor: lists.grants(Caller.command_line(), limit=PAGE, cursor=cursor)))
    if options.json:
        return output.as_json({"kind": "capabilities", "capabilities": [access_wire.capability(one) for one in made]})
    rows = [(str(one.grant_id), one.subject.display, one.action, _standing(one), one.scope) for one in made]
    return output.lines(output.columns(rows), none="(no grants)")


def _standing(grant: CapabilityGrant) -> str:
    if grant.revoked_at is not None:
        return "revoked"
    if grant.expires_at is not None and grant.expires_at < timezone.now():
        return "expired"
    used = f"{grant.uses} of {grant.max_uses} used" if grant.max_uses is not None else None
    until = f"until {output.moment(grant.expires_at)}" if grant.expires_at is not None else None
    return ", ".join(filter(None, (used, until))) or "live"


def _add_route_commands(commands: arguments.Commands) -> None:
    what = "add, list and revoke public routes: secret URLs that act as an agent"
    verbs = arguments.group(commands, "route", what)
    command(
        verbs,
        "add",
        _add_route,
        argument("name", metavar="NAME", help="the agent that the route acts as"),
        arguments.number(
            "--rate",
            least=1,
            most=public_routes.HIGHEST_RATE,
            default=settings.A2A_ROUTE_RATE_LIMIT_PER_MIN,
            help="requests a minute (default: %(default)s)",
        ),
        help="add a public route and print its URL, once",
        description="A client with the URL can only send tasks as the agent, and read the tasks that the agent sent.",
    )
    command(verbs, "list", _list_routes, help="list all public routes, also revoked, newest first")
    public_id = argument("public_id", metavar="ID", help="the eight characters after p_ in the URL")
    command(verbs, "revoke", _revoke_route, public_id, help="revoke a public route; the next request is refused")


def _add_route(options: Namespace) -> str:
    made = public_routes.add(Caller.command_line(), arguments.agent(options.name), rate_limit=options.rate)
    shown = access_wire.new_route(made)
    text = f"{shown['url']}\nGive it to the client as its base URL. Keep it: the hub never prints it again."
    return output.answer(options, shown, text)


def _list_routes(options: Namespace) -> str:
    caller = Caller.command_line()
    routes = paging.every(lambda cursor: credential_lists.public_routes(caller, limit=PAGE, cursor=cursor))
    if options.json:
        return output.as_json({"kind": "a2a_routes", "routes": [access_wire.route(route) for route in routes]})
    return output.lines(output.columns([_row(route) for route in routes]), none="(no routes)")


def _revoke_route(options: Namespace) -> str:
    route = public_routes.revoke(Caller.command_line(), options.public_id)
    return output.answer(options, access_wire.route_revoked(route), f"revoked route {route.public_id} of {route.agent}")


def _row(route: PublicRoute) -> tuple[str, ...]:
    used = f"used {output.moment(route.last_used_at)}" if route.last_used_at else "never used"
    state = "revoked" if route.revoked_at else "live"
    return route.public_id, route.agent.display, state, f"{route.rate_limit}/min", used
