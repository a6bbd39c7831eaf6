"""``discover``, ``invoke``, ``carry``: calls to remote agents and to receivers. Source: corvid-agent, MCP tools."""

import json
import signal
import threading
from argparse import Namespace
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from typing import Any

from django.core.management.base import CommandError

from mailbox.management.cli import arguments, output
from mailbox.management.cli.arguments import argument, command
from mailbox.management.cli.progress import spinning

# Each command imports its client itself, so the other commands start without httpx and httpcore.
URL = arguments.url_without_credentials("URL")


def add_commands(commands: arguments.Commands) -> None:
    url = argument("url", type=URL, metavar="URL", help="its base URL; - reads stdin")
    command(commands, "discover", _discover, url, help="show the agent card of a remote agent")
    command(
        commands,
        "invoke",
        _invoke,
        argument(
            "url",
            type=URL,
            metavar="URL",
            help="its base URL; - reads stdin, where user:password@ is sent as Basic, and :KEY@ as Bearer",
        ),
        argument("text", metavar="TEXT", help="what to do"),
        argument("--skill", metavar="SKILL", help="the skill to use"),
        arguments.number(
            "--timeout-ms",
            least=1_000,
            most=600_000,
            default=300_000,
            help="wait at most N milliseconds (default: %(default)s)",
        ),
        help="send a remote agent a task and wait for the answer",
    )
    what = "deliver tasks to remote agents, send callbacks and tell webhooks, until stopped (started by `serve`)"
    command(commands, "carry", _carry, has_json=False, help=what)


def _discover(options: Namespace) -> str:
    from agentcards import client

    with spinning("fetching the agent card"):
        card = client.fetch_agent_card(options.url)
    return json.dumps(card) if options.json else "\n".join(output.printable(line) for line in _lines(card))


def _invoke(options: Namespace) -> str:
    from agentcards import client

    with spinning("waiting for the remote agent"):
        result = client.invoke_remote_agent(
            options.url, options.text, skill=options.skill, timeout_ms=options.timeout_ms
        )
    if options.json:
        outcome = {"success": result.success, "taskId": result.task_id}
        return output.as_json({**outcome, "responseText": result.response_text, "error": result.error})
    if not result.success:
        raise CommandError(output.printable(f"Remote agent invocation failed: {result.error}"))
    return output.printable(result.response_text or "(no response text)")


def _carry(options: Namespace) -> str:
    from mailbox.background.courier import Courier
    from mailbox.background.remote_sender import RemoteSender

    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    programs = (RemoteSender().run, Courier().run)
    with ThreadPoolExecutor(len(programs)) as rounds:
        running = [rounds.submit(run, stop) for run in programs]
        wait(running, return_when=FIRST_COMPLETED)
        stop.set()  # If a sender fails, both end: the supervisor then starts both again.
    for ended in running:
        ended.result()
    return ""


def _lines(card: dict[str, Any]) -> Iterator[str]:
    """Yield the facts of a card, one per line. Only name and version were checked; other fields may hold any JSON."""
    skills = [skill for skill in _items(card, "skills") if isinstance(skill, dict)]
    protocols = [entry for entry in _items(card, "supportedProtocols") if isinstance(entry, dict)]
    provider = card.get("provider")
    facts = {
        "Agent": f"{card['name']} {card['version']}",
        "Description": card.get("description"),
        "URL": card.get("url"),
        "Provider": provider.get("organization") if isinstance(provider, dict) else provider,
        "Docs": card.get("documentationUrl"),
        "Protocols": ", ".join(str(entry.get("protocol")) for entry in protocols),
        "Skills": str(len(skills)),
    }
    yield from output.columns([(f"{name}:", str(fact).replace("\n", " ")) for name, fact in facts.items() if fact])
    for skill in skills:
        yield f"  {skill.get('id')}: {skill.get('description') or skill.get('name')}".replace("\n", " ")


def _items(card: dict[str, Any], name: str) -> list[Any]:
    value = card.get(name)
    return value if isinstance(value, list) else []
