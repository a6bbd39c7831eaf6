"""The commands about agents: ``agents``, ``profile``, ``quotas`` and ``tools``. Some are about keys that sign."""

import json
import os
import sys
from argparse import ArgumentTypeError, Namespace
from pathlib import Path
from typing import Any

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.conf import settings
from django.core.management.base import CommandError

from agentcards import card_signing, official_agents, official_card, profiles, registry
from agentcards.models import AgentProfile
from agentcards.tools import import_tools, registered
from mailbox.access.agents import grants, own_agent_setup, registration
from mailbox.access.callers import Caller
from mailbox.access.credentials import signing_keys
from mailbox.access.limits import own_limits, quota_usage
from mailbox.access.limits.quota_usage import NAMED, Usage
from mailbox.database import paging
from mailbox.dialects.base.wire import agent_id
from mailbox.dialects.corvid import wire
from mailbox.dialects.corvid.wire import CorvidAgent
from mailbox.dialects.covenant import agent_wire
from mailbox.inspection import lists
from mailbox.management.cli import arguments, output, remote_agents
from mailbox.management.cli.arguments import AGENT, NAME, OPTIONAL_REASON, WRONG_USAGE, argument, command
from mailbox.words import ed25519, json_text
from mailbox.words.ed25519 import KeyProof
from mailbox.words.errors import InvalidJsonError, InvalidRequestError

PAGE = 1000
LISTS = {
    "input_modes": "media types that it takes; '' for text, JSON and all others",
    "output_modes": "media types that it makes; '' for text, JSON and all others",
    "extended_tools": "tools that only its extended card shows",
}
SWITCHES = {
    "streaming": "whether clients may stream its tasks",
    "push_notifications": "whether clients may set callbacks",
    "extended_card": "whether it has an extended card",
    "card_for_0_3": "whether its card also serves clients of version 0.3",
    "message_id_is_key": "whether a repeated message is found by its messageId",
}
URLS = ("remote_url", "card_url")
DEFAULT = "default"


def add_commands(commands: arguments.Commands) -> None:
    verbs = arguments.group(commands, "agents", "register, list, pause and resume agents")
    _add_registration(verbs)
    _add_signing_commands(verbs)
    what = "let callers without a key send to an agent by the official protocol"
    command(verbs, "open", _open, NAME, OPTIONAL_REASON, help=what)
    command(verbs, "close", _close, NAME, OPTIONAL_REASON, help="let no caller without a key send to an agent any more")
    what = "print the base URL of an agent, and its card of the official protocol"
    command(verbs, "card", _card, NAME, help=what)
    command(verbs, "list", _list, help="list agents by name")
    reason = argument("--reason", required=True, metavar="TEXT", help="why; other agents and the journal see it")
    command(verbs, "pause", _pause, NAME, reason, help="stop an agent from leasing tasks until it is resumed")
    command(verbs, "resume", _resume, NAME, OPTIONAL_REASON, help="let a paused agent lease tasks again")
    own = argument("name", metavar="NAME", help="operators@hub, scheduler@hub or anonymous@public")
    what = "take an agent of the hub itself, such as operators@hub, back from another program"
    command(verbs, "reclaim", _reclaim, own, help=what)
    _add_profile_command(commands)
    _add_quota_commands(commands)
    _add_tool_commands(commands)


def _add_registration(verbs: arguments.Commands) -> None:
    command(
        verbs,
        "add",
        _add,
        argument("name", metavar="NAME", help="the agent's name; research means research@local"),
        argument("--pubkey", metavar="KEY", help="its Ed25519 public key in base58 (default: make a key pair)"),
        argument(
            "--card",
            type=arguments.url_without_credentials("--card"),
            metavar="URL",
            help="the card of a remote agent that speaks the official A2A protocol; the hub carries its tasks there; "
            "- reads stdin",
        ),
        argument("--key-file", type=Path, metavar="FILE", help="the file of the hub's API key at that agent"),
        argument("--proof", type=Path, metavar="FILE", help="the proof of --pubkey, which agents prove has printed"),
        help="register an agent and print its secrets, once",
    )


def _open(options: Namespace) -> str:
    agent = arguments.agent(options.name)
    grants.open_to_anyone(Caller.command_line(), agent, reason=options.reason)
    text = f"opened {agent}: callers without a key send to it at {official_card.base_url(agent.display)}"
    return output.answer(options, {"kind": "a2a_agent_opened", "agent": agent_id(agent)}, text)


def _close(options: Namespace) -> str:
    agent = arguments.agent(options.name)
    grants.close_to_anyone(Caller.command_line(), agent, reason=options.reason)
    shown = {"kind": "a2a_agent_closed", "agent": agent_id(agent)}
    return output.answer(options, shown, f"closed {agent}: only callers with a key send to it")


def _card(options: Namespace) -> str:
    official = official_agents.find(arguments.agent(options.name).display)
    base_url, card = official_card.base_url(official.agent.display), official.card()
    shown = {"kind": "a2a_agent_card", "base_url": base_url, "key_id": card_signing.key_id(), "card": card}
    return output.answer(options, shown, f"{base_url}\n{json.dumps(card, indent=2, ensure_ascii=False)}")


def _add(options: Namespace) -> str:
    proof = read_proof(options.proof) if options.proof else None
    if options.card is None and options.key_file is None:
        made = registration.register_agent(Caller.command_line(), options.name, pubkey=options.pubkey, proof=proof)
    else:
        made = remote_agents.register(options, proof)
    secrets = [("public key", made.agent.pubkey), ("private key", made.private_key), ("API key", made.api_key)]
    shown = output.columns([(f"  {name}", value) for name, value in secrets if value])
    text = "\n".join([made.agent.display, *shown, "Keep these: the hub never prints them again."])
    return output.answer(options, agent_wire.registered(made), text)


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
    return output.answer(options, agent_wire.paused(paused), f"paused {paused}")


def _resume(options: Namespace) -> str:
    resumed = registration.resume_agent(Caller.command_line(), arguments.agent(options.name), reason=options.reason)
    return output.answer(options, {"kind": "a2a_agent_resumed", "agent": agent_id(resumed)}, f"resumed {resumed}")


def _reclaim(options: Namespace) -> str:
    reclaimed = own_agent_setup.reclaim(Caller.command_line(), options.name)
    text = f"reclaimed {reclaimed}: its keys, public routes and grants are revoked, and its public key is new"
    return output.answer(options, {"kind": "a2a_agent_reclaimed", "agent": agent_id(reclaimed)}, text)


def _add_signing_commands(verbs: arguments.Commands) -> None:
    file = argument("file", type=Path, metavar="FILE", help="the new file; an existing file is never replaced")
    what = "write a new private key to a file that only you can read"
    command(verbs, "new-key", _new_key, file, has_json=False, help=what).set_defaults(skip_checks=True)
    command(
        verbs,
        "prove",
        _prove,
        argument("name", metavar="NAME", help="the agent; research means research@local"),
        argument("--key-file", type=Path, required=True, metavar="FILE", help="the file of the private key"),
        argument("--previous", type=Path, metavar="FILE", help="the file of the agent's private key until now"),
        argument(
            "--url", default=settings.PUBLIC_URL, metavar="URL", help="the hub's public URL (default: %(default)s)"
        ),
        has_json=False,
        help="print the proof of a private key, for registration or set-key",
    ).set_defaults(skip_checks=True)
    proof = argument("--proof", type=Path, required=True, metavar="FILE", help="the proof that prove has printed")
    command(verbs, "set-key", _set_key, NAME, proof, has_json=False, help="let an agent sign by another key")
    what = "let an agent sign no more requests by its key"
    command(verbs, "retire-key", _retire_key, NAME, has_json=False, help=what)


def read_proof(path: Path) -> KeyProof:
    """Return the proof in a file. Raise `CommandError` for a file without a proof."""
    try:
        proof: Any = json.loads(path.read_text("utf-8"))
        return KeyProof.parse(proof if isinstance(proof, dict) else {})
    except OSError as error:
        raise CommandError(f"--proof {path}: {error.strerror}") from error
    except (ValueError, InvalidRequestError) as error:
        raise CommandError(f"--proof {path}: {error}") from error


def _new_key(options: Namespace) -> str:
    key = Ed25519PrivateKey.generate()
    try:
        descriptor = os.open(options.file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise CommandError(f"{options.file}: {error.strerror}") from error
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(f"{ed25519.seed_of(key)}\n")
    return ed25519.public_of(key)


def _prove(options: Namespace) -> str:
    previous = options.previous and private_key(options.previous, "--previous")
    made = KeyProof.made(
        private_key(options.key_file, "--key-file"),
        hub=options.url.rstrip("/"),
        display=registration.display_of(options.name),
        previous=previous,
    )
    return json.dumps(made.fields(), indent=2)


def _set_key(options: Namespace) -> str:
    agent = arguments.agent(options.name)
    made = signing_keys.set_signing_key(Caller.command_line(), agent, read_proof(options.proof))
    return f"{agent} signs by {made.pubkey}"


def _retire_key(options: Namespace) -> str:
    agent = arguments.agent(options.name)
    retired = signing_keys.retire_signing_key(Caller.command_line(), agent)
    return f"retired {retired.pubkey} of {agent}" if retired else f"{agent} has no key that signs"


def private_key(path: Path, option: str) -> Ed25519PrivateKey:
    """Return the private key in a file. Raise `CommandError` without a usable key."""
    try:
        return ed25519.private_key(path.read_text("ascii"))
    except (OSError, ValueError, TypeError, UnsupportedAlgorithm) as error:
        problem = error.strerror if isinstance(error, OSError) else "it has no Ed25519 private key"
        raise CommandError(f"{option} {path}: {problem}", returncode=WRONG_USAGE) from error


TEXTS = {
    "name": "the name that people see",
    "description": "what the agent does, for its card",
    "persona_archetype": "the agent's persona, for its card",
    "default_project": "its project; such an agent receives tasks/send tasks that name no agent",
    "wallet_address": "the agent's Algorand address, for its card",
    "card_version": "the agent's version; '' for the hub's",
    "documentation_url": "where people read about the agent",
    "icon_url": "a picture of the agent",
    "remote_url": "base URL of a remote agent; the hub delivers its tasks there; - reads stdin",
    "card_url": "card of a remote agent that speaks the official A2A protocol; - reads stdin",
}


def _add_profile_command(commands: arguments.Commands) -> None:
    command(
        commands,
        "profile",
        _profile,
        AGENT,
        *map(_text_field, TEXTS),
        argument(
            "--card-key",
            dest="profile_card_key",
            type=arguments.secret("--card-key"),
            metavar="-",
            help="read the hub's API key at that agent from stdin",
        ),
        _list_field("skill_bundles", "names of skill bundles, for its card"),
        arguments.either(
            _list_field("tools", "the tools it may use, in the order of its card"),
            argument("--default-tools", action="store_true", help="let it use the default tools"),
        ),
        *(_list_field(field, what) for field, what in LISTS.items()),
        *(
            argument(name, type=arguments.switch(name), metavar="on|off", help=what)
            for name, what in zip(map(_option, SWITCHES), SWITCHES.values(), strict=True)
        ),
        argument(
            "--extensions",
            type=arguments.json_objects("--extensions", "extensions"),
            metavar="JSON",
            help='extensions of the protocol, such as [{"uri": "https://example.org/x", "required": true}]; '
            "[] for none",
        ),
        help="show an agent's profile, or change it; '' empties a field",
    )


def _text_field(field: str) -> arguments.Argument:
    name = _option(field)
    reads = arguments.url_without_credentials(name) if field in URLS else str
    return argument(name, dest=f"profile_{field}", type=reads, metavar="TEXT", help=TEXTS[field])


def _list_field(field: str, what: str) -> arguments.Argument:
    return argument(_option(field), type=_names, metavar="A,B", help=what)


def _profile(options: Namespace) -> str:
    agent = arguments.agent(options.agent)
    changes = _changes(options)
    caller = Caller.command_line()
    profile = profiles.update_profile(caller, agent, changes) if changes else AgentProfile.of(agent)
    card = wire.agent(profile, with_remote_url=True)
    if options.json:
        return output.as_json(card)
    rows = [(name, _spelled(value)) for name, value in _shown_fields(card)]
    return output.lines(output.columns(rows), none="")


def _changes(options: Namespace) -> dict[str, Any]:
    values = vars(options)
    texts = (*TEXTS, "card_key")
    changes = {field: values[f"profile_{field}"] for field in texts if values[f"profile_{field}"] is not None}
    for field in ("skill_bundles", "extensions", *LISTS, *SWITCHES):
        if values[field] is not None:
            changes[field] = values[field]
    if options.default_tools or options.tools is not None:
        changes["tool_permissions"] = options.tools
    return changes


def _shown_fields(card: CorvidAgent) -> list[tuple[str, Any]]:
    """Return the fields that are not as in an empty profile, without the second form of the identity."""
    usually_on = {"streaming", "pushNotifications", "extendedCard", "cardFor03"}
    return [
        (name, value)
        for name, value in card.items()
        if name != "agentId" and (value not in (None, "", [], False)) != (name in usually_on)
    ]


def _spelled(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(name, str) for name in value):
        return ",".join(value)
    if isinstance(value, bool):
        return "on" if value else "off"
    return json_text.dumps(value) if isinstance(value, list) else str(value)


def _names(text: str) -> list[str]:
    return [name for part in text.split(",") if (name := part.strip())]


def _option(field: str) -> str:
    return f"--{field.replace('_', '-')}"


def _add_quota_commands(commands: arguments.Commands) -> None:
    verbs = arguments.group(commands, "quotas", "show and set what an agent may have at the hub")
    what = "show each quota of an agent, and how much of it is used"
    command(verbs, "show", _show_quotas, AGENT, help=what)
    limits = (
        argument(_option(name), dest=f"quota_{name}", metavar="N", type=_limit, help=what)
        for name, what in NAMED.items()
    )
    recipient = argument("--to", metavar="RECIPIENT", help="with --queued: only its tasks to this agent")
    what = f"give an agent quotas of its own; {DEFAULT} restores the setting"
    command(verbs, "set", _set_quotas, AGENT, *limits, recipient, help=what)


def _limit(text: str) -> int | str:
    return DEFAULT if text == DEFAULT else arguments.integer("the quota")(text)


def _show_quotas(options: Namespace) -> str:
    agent = arguments.agent(options.agent)
    used = quota_usage.usage_of(agent, cards=registry.count_of(agent))
    if options.json:
        return output.as_json({"kind": "a2a_quotas", "quotas": [agent_wire.quota(one) for one in used]})
    return output.lines(output.columns([_quota_row(one) for one in used]), none="")


def _set_quotas(options: Namespace) -> str:
    agent, recipient = arguments.agent(options.agent), options.to and arguments.agent(options.to)
    limits = {name: vars(options)[f"quota_{name}"] for name in NAMED}
    wanted = {name: limit for name, limit in limits.items() if limit is not None}
    if not wanted:
        raise CommandError("give at least one quota, such as --queued 500", returncode=WRONG_USAGE)
    own = {name: None if limit == DEFAULT else limit for name, limit in wanted.items()}
    own_limits.set_quotas(Caller.command_line(), agent, own, recipient=recipient)
    return _show_quotas(options)


def _quota_row(usage: Usage) -> tuple[str, ...]:
    used = "" if usage.used is None else f"{usage.used} of"
    return usage.what, used, str(usage.limit), "its own" if usage.is_own else "the setting"


def _add_tool_commands(commands: arguments.Commands) -> None:
    verbs = arguments.group(commands, "tools", "register and list MCP tools, which agent cards show as skills")
    command(
        verbs,
        "import",
        _import_tools,
        argument("listing", type=_json_file, metavar="FILE", help="file with the JSON answer; - reads stdin"),
        argument("--default", action="store_true", help="let every agent without a list of tools use these tools"),
        help="register the tools of an MCP tools/list answer, or update them",
    )
    command(verbs, "list", _list_tools, help="list tools in the order of registration")


def _import_tools(options: Namespace) -> str:
    done = import_tools(Caller.command_line(), options.listing, default=options.default)
    counts = {"added": done.added, "changed": done.changed, "unchanged": done.unchanged, "partial": done.is_partial}
    summary = f"{len(done.added)} added, {len(done.changed)} changed, {len(done.unchanged)} unchanged"
    text = f"{summary}; the listing has more pages: import those too" if done.is_partial else summary
    return output.answer(options, {"kind": "a2a_tools_imported", **counts}, text)


def _list_tools(options: Namespace) -> str:
    tools = registered()
    if options.json:
        shown = [
            {"name": tool.name, "description": tool.description, "tags": tool.tags, "default": tool.is_default}
            for tool in tools
        ]
        return output.as_json({"kind": "a2a_tools", "tools": shown})
    rows = [(tool.name, "default" if tool.is_default else "", ",".join(tool.tags), tool.description) for tool in tools]
    return output.lines(output.columns(rows), none="(no tools)")


def _json_file(path: str) -> Any:
    try:
        return json_text.loads(sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes())
    except OSError as error:
        raise ArgumentTypeError(f"cannot read {path}: {error.strerror}") from error
    except InvalidJsonError as error:
        raise ArgumentTypeError(f"{path} is not accepted: {error}") from error
