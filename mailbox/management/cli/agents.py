"""``agents add``, ``agents list``."""

from __future__ import annotations

from argparse import Namespace

from mailbox import inspection, registration
from mailbox.callers import Caller
from mailbox.dialects.covenant import wire
from mailbox.management.cli import arguments, output

PAGE = 1000


def add_commands(commands: arguments.Commands) -> None:
    group = commands.add_parser("agents", help="register agents and list them")
    verbs = group.add_subparsers(title="commands", metavar="COMMAND", required=True)

    add = verbs.add_parser("add", help="register an agent; its secrets are printed once")
    add.add_argument("name", metavar="NAME", help="research@local, or research for the same")
    add.add_argument("--pubkey", metavar="K", help="its own public key, base58; without it a pair is made")
    arguments.add_json(add)
    add.set_defaults(run=_add)

    listed = verbs.add_parser("list", help="list the registered agents by name")
    arguments.add_json(listed)
    listed.set_defaults(run=_list)


def _add(options: Namespace) -> str:
    made = registration.register_agent(Caller.command_line(), options.name, pubkey=options.pubkey)
    if options.json:
        return output.as_json(wire.registration(made))
    secrets = [("public key", made.agent.pubkey), ("private key", made.private_key), ("API key", made.api_key)]
    shown = output.columns([(f"  {name}", value) for name, value in secrets if value])
    return "\n".join([made.agent.display, *shown, "Keep these: the hub never prints them again."])


def _list(options: Namespace) -> str:
    agents = list(output.every(lambda cursor: inspection.agents(limit=PAGE, cursor=cursor)))
    if options.json:
        return output.as_json({"kind": "a2a_agents", "agents": [wire.agent_id(agent) for agent in agents]})
    rows = [(agent.display, agent.pubkey, "paused" if agent.paused_at else "") for agent in agents]
    return output.lines(output.columns(rows), none="(no agents)")
