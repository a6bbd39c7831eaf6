"""``agents add``, ``list``, ``pause``, ``resume``, ``reclaim``, ``open``, ``close`` and ``card``."""

from __future__ import annotations

import json
from argparse import Namespace
from pathlib import Path

from agentcards import card_signing, official_agents, official_card
from mailbox.access.agents import grants, own_agent_setup, registration
from mailbox.access.callers import Caller
from mailbox.database import paging
from mailbox.dialects.base.wire import agent_id
from mailbox.dialects.covenant import agent_wire
from mailbox.inspection import lists
from mailbox.management.cli import arguments, output, remote_agents, signing


def add_official_commands(verbs: arguments.Commands) -> None:
    opened = verbs.add_parser("open", help="let callers without a key send to an agent by the official protocol")
    opened.add_argument("name", metavar="NAME", help="the agent")
    opened.add_argument("--reason", default="", metavar="TEXT", help="why; the journal keeps it")
    arguments.add_json(opened)
    opened.set_defaults(run=_open)

    closed = verbs.add_parser("close", help="let no caller without a key send to an agent any more")
    closed.add_argument("name", metavar="NAME", help="the agent")
    closed.add_argument("--reason", default="", metavar="TEXT", help="why; the journal keeps it")
    arguments.add_json(closed)
    closed.set_defaults(run=_close)

    card = verbs.add_parser("card", help="print the base URL of an agent, and its card of the official protocol")
    card.add_argument("name", metavar="NAME", help="the agent")
    arguments.add_json(card)
    card.set_defaults(run=_card)


def _open(options: Namespace) -> str:
    agent = arguments.agent(options.name)
    grants.open_to_anyone(Caller.command_line(), agent, reason=options.reason)
    if options.json:
        return output.as_json({"kind": "a2a_agent_opened", "agent": agent_id(agent)})
    return f"opened {agent}: callers without a key send to it at {official_card.base_url(agent.display)}"


def _close(options: Namespace) -> str:
    agent = arguments.agent(options.name)
    grants.close_to_anyone(Caller.command_line(), agent, reason=options.reason)
    if options.json:
        return output.as_json({"kind": "a2a_agent_closed", "agent": agent_id(agent)})
    return f"closed {agent}: only callers with a key send to it"


def _card(options: Namespace) -> str:
    official = official_agents.find(arguments.agent(options.name).display)
    base_url, card = official_card.base_url(official.agent.display), official.card()
    if options.json:
        answer = {"kind": "a2a_agent_card", "base_url": base_url, "key_id": card_signing.key_id(), "card": card}
        return output.as_json(answer)
    return f"{base_url}\n{json.dumps(card, indent=2, ensure_ascii=False)}"


PAGE = 1000


def add_commands(commands: arguments.Commands) -> None:
    group = commands.add_parser("agents", help="register, list, pause and resume agents")
    verbs = group.add_subparsers(title="commands", metavar="COMMAND", required=True)

    add = verbs.add_parser("add", help="register an agent and print its secrets, once")
    add.add_argument("name", metavar="NAME", help="the agent's name; research means research@local")
    add.add_argument("--pubkey", metavar="KEY", help="its Ed25519 public key in base58 (default: make a key pair)")
    add.add_argument(
        "--card",
        type=arguments.url_without_credentials("--card"),
        metavar="URL",
        help="the card of a remote agent that speaks the official A2A protocol; the hub carries its tasks there; "
        "- reads stdin",
    )
    add.add_argument("--key-file", type=Path, metavar="FILE", help="the file of the hub's API key at that agent")
    add.add_argument("--proof", type=Path, metavar="FILE", help="the proof of --pubkey, which agents prove has printed")
    arguments.add_json(add)
    add.set_defaults(run=_add)
    signing.add_commands(verbs)
    add_official_commands(verbs)

    listed = verbs.add_parser("list", help="list agents by name")
    arguments.add_json(listed)
    listed.set_defaults(run=_list)

    pause = verbs.add_parser("pause", help="stop an agent from leasing tasks until it is resumed")
    pause.add_argument("name", metavar="NAME", help="the agent")
    pause.add_argument("--reason", required=True, metavar="TEXT", help="why; other agents and the journal see it")
    arguments.add_json(pause)
    pause.set_defaults(run=_pause)

    resume = verbs.add_parser("resume", help="let a paused agent lease tasks again")
    resume.add_argument("name", metavar="NAME", help="the agent")
    resume.add_argument("--reason", default="", metavar="TEXT", help="why; the journal keeps it")
    arguments.add_json(resume)
    resume.set_defaults(run=_resume)

    reclaim = verbs.add_parser(
        "reclaim", help="take an agent of the hub itself, such as operators@hub, back from another program"
    )
    reclaim.add_argument("name", metavar="NAME", help="operators@hub, scheduler@hub or anonymous@public")
    arguments.add_json(reclaim)
    reclaim.set_defaults(run=_reclaim)


def _add(options: Namespace) -> str:
    proof = signing.read_proof(options.proof) if options.proof else None
    if options.card is None and options.key_file is None:
        made = registration.register_agent(Caller.command_line(), options.name, pubkey=options.pubkey, proof=proof)
    else:
        made = remote_agents.register(options, proof)
    if options.json:
        return output.as_json(agent_wire.registered(made))
    secrets = [("public key", made.agent.pubkey), ("private key", made.private_key), ("API key", made.api_key)]
    shown = output.columns([(f"  {name}", value) for name, value in secrets if value])
    return "\n".join([made.agent.display, *shown, "Keep these: the hub never prints them again."])


def _list(options: Namespace) -> str:
    agents = list(paging.every(lambda cursor: lists.agents(limit=PAGE, cursor=cursor)))
    if options.json:
        return output.as_json({"kind": "a2a_agents", "agents": [agent_id(agent) for agent in agents]})
    rows = [
        (agent.display, agent.pubkey, f"paused: {agent.paused_reason}" if agent.paused_at else "") for agent in agents
    ]
    return output.lines(output.columns(rows), none="(no agents)")


def _pause(options: Namespace) -> str:
    paused = registration.pause_agent(Caller.command_line(), arguments.agent(options.name), reason=options.reason)
    return output.as_json(agent_wire.paused(paused)) if options.json else f"paused {paused}"


def _resume(options: Namespace) -> str:
    resumed = registration.resume_agent(Caller.command_line(), arguments.agent(options.name), reason=options.reason)
    if options.json:
        return output.as_json({"kind": "a2a_agent_resumed", "agent": agent_id(resumed)})
    return f"resumed {resumed}"


def _reclaim(options: Namespace) -> str:
    reclaimed = own_agent_setup.reclaim(Caller.command_line(), options.name)
    if options.json:
        return output.as_json({"kind": "a2a_agent_reclaimed", "agent": agent_id(reclaimed)})
    return f"reclaimed {reclaimed}: its keys, public routes and grants are revoked, and its public key is new"
