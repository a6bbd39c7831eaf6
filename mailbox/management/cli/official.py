"""``agents open``, ``agents close``, ``agents card``."""

from __future__ import annotations

import json
from argparse import Namespace

from agentcards import card_signing, official_agents, official_card
from mailbox.access.agents import grants
from mailbox.access.callers import Caller
from mailbox.dialects.covenant import wire
from mailbox.management.cli import arguments, output


def add_commands(verbs: arguments.Commands) -> None:
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
        return output.as_json({"kind": "a2a_agent_opened", "agent": wire.agent_id(agent)})
    return f"opened {agent}: callers without a key send to it at {official_card.base_url(agent.display)}"


def _close(options: Namespace) -> str:
    agent = arguments.agent(options.name)
    grants.close_to_anyone(Caller.command_line(), agent, reason=options.reason)
    if options.json:
        return output.as_json({"kind": "a2a_agent_closed", "agent": wire.agent_id(agent)})
    return f"closed {agent}: only callers with a key send to it"


def _card(options: Namespace) -> str:
    found = official_agents.find(arguments.agent(options.name).display)
    base_url, card = official_card.base_url(found.agent.display), found.card()
    if options.json:
        told = {"kind": "a2a_agent_card", "base_url": base_url, "key_id": card_signing.key_id(), "card": card}
        return output.as_json(told)
    return f"{base_url}\n{json.dumps(card, indent=2, ensure_ascii=False)}"
