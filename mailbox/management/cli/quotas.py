"""``quotas show``, ``quotas set``."""

from __future__ import annotations

from argparse import Namespace

from django.core.management.base import CommandError

from agentcards import registry
from mailbox.access.callers import Caller
from mailbox.access.limits import own_limits, quota_usage
from mailbox.access.limits.quota_usage import NAMED, Usage
from mailbox.management.cli import arguments, output

DEFAULT = "default"
WRONG_USAGE = 2


def add_commands(commands: arguments.Commands) -> None:
    group = commands.add_parser("quotas", help="show and set what an agent may have at the hub")
    verbs = group.add_subparsers(title="commands", metavar="COMMAND", required=True)

    show = verbs.add_parser("show", help="show each quota of an agent, and how much of it is used")
    show.add_argument("agent", metavar="NAME", help="the agent")
    arguments.add_json(show)
    show.set_defaults(run=_show)

    change = verbs.add_parser("set", help=f"give an agent quotas of its own; {DEFAULT} restores the setting")
    change.add_argument("agent", metavar="NAME", help="the agent")
    for name, what in NAMED.items():
        change.add_argument(f"--{name.replace('_', '-')}", dest=f"quota_{name}", metavar="N", type=_limit, help=what)
    change.add_argument("--to", metavar="RECIPIENT", help="with --queued: only its tasks to this agent")
    arguments.add_json(change)
    change.set_defaults(run=_set)


def _limit(text: str) -> int | str:
    return DEFAULT if text == DEFAULT else arguments.integer("the quota")(text)


def _show(options: Namespace) -> str:
    agent = arguments.agent(options.agent)
    used = quota_usage.usage_of(agent, cards=registry.count_of(agent))
    if options.json:
        return output.as_json({"kind": "a2a_quotas", "quotas": [_as_json(one) for one in used]})
    return output.lines(output.columns([_row(one) for one in used]), none="")


def _set(options: Namespace) -> str:
    agent, recipient = arguments.agent(options.agent), options.to and arguments.agent(options.to)
    limits = {name: vars(options)[f"quota_{name}"] for name in NAMED}
    wanted = {name: limit for name, limit in limits.items() if limit is not None}
    if not wanted:
        raise CommandError("give at least one quota, such as --queued 500", returncode=WRONG_USAGE)
    own = {name: None if limit == DEFAULT else limit for name, limit in wanted.items()}
    own_limits.set_quotas(Caller.command_line(), agent, own, recipient=recipient)
    return _show(options)


def _as_json(usage: Usage) -> dict[str, object]:
    return {
        "quota": usage.name,
        "recipient": usage.recipient or None,
        "used": usage.used,
        "limit": usage.limit,
        "is_own": usage.is_own,
    }


def _row(usage: Usage) -> tuple[str, ...]:
    used = "" if usage.used is None else f"{usage.used} of"
    return usage.what, used, str(usage.limit), "its own" if usage.is_own else "the setting"
