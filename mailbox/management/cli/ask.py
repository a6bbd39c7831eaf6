"""``ask``. Source: A2A 1.0, SendMessage, SendStreamingMessage."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from django.conf import settings
from django.core.management.base import CommandError

from a2a_hub_client.credentials import KEY
from mailbox.management.cli import arguments, output
from mailbox.management.cli.arguments import argument, command
from mailbox.management.cli.remote_agents import read_key
from mailbox.words import content

if TYPE_CHECKING:
    from agentcards.official_client.client import ReachedAgent
    from agentcards.official_client.dialogue import Heard
    from agentcards.official_client.shown import ShownMessage, ShownTask

# The command imports its client itself, so the other commands start without httpx and httpcore.
STILL_AT_WORK = 8
EXIT_CODES = {
    "TASK_STATE_FAILED": 3,
    "TASK_STATE_REJECTED": 4,
    "TASK_STATE_CANCELED": 5,
    "TASK_STATE_INPUT_REQUIRED": 6,
    "TASK_STATE_AUTH_REQUIRED": 7,
}

DESCRIPTION = """
Sends an agent a message over the official A2A protocol, and prints messages, artifacts and progress as they come. AGENT
is an agent of this hub by name, or an agent elsewhere by the URL of its card. At a terminal the command asks for the
answer to a question of the agent. It exits with 0 if the task is completed, 3 if it failed, 4 if it was rejected,
and 5 if it was cancelled. It exits with 6 for a question, 7 for a required authorization, and 8 for a task at work.
"""


def add_commands(commands: arguments.Commands) -> None:
    command(
        commands,
        "ask",
        _ask,
        argument(
            "agent",
            type=_agent,
            metavar="AGENT",
            help="an agent of this hub, or the URL of an agent or its card; - reads stdin",
        ),
        argument("text", metavar="TEXT", help="the message"),
        argument("--stream", action="store_true", help="receive by a stream, where the agent has one"),
        argument(
            "--key-file",
            type=Path,
            metavar="FILE",
            help=f"the file of the API key at the agent (default for agents of this hub: from {KEY})",
        ),
        arguments.number(
            "--timeout",
            least=1,
            most=86_400,
            default=300,
            metavar="S",
            help="wait at most S seconds for each answer (default: %(default)s)",
        ),
        argument("--json", action="store_true", help="print each event as a line of JSON"),
        has_json=False,
        help="talk to an agent over the official A2A protocol",
        description=DESCRIPTION,
    )


def _agent(text: str) -> str:
    """Read the name of an agent, or a URL without credentials, for ``-`` from stdin."""
    return arguments.url_without_credentials("AGENT")(text) if "://" in text or text == "-" else text


def _ask(options: Namespace) -> str:
    from agentcards.official_client import client
    from mailbox.outbound import destinations

    is_own, url = "://" not in options.agent, options.agent
    if is_own:
        name = arguments.agent(options.agent).display
        url = f"{settings.PUBLIC_URL.rstrip('/')}/agents/{quote(name, safe='@')}"
    key = read_key(options.key_file) if options.key_file else ""
    if is_own:
        key = key or os.environ.get(KEY, "").strip()
    hub = urlsplit(settings.PUBLIC_URL).hostname or ""
    with destinations.allowing(hub) if is_own else nullcontext():
        address = client.AgentAddress.parse(url, key)
        agent = client.reached(address, client.discover(address).interface)
        return _Conversation(agent, options).run()


class _Conversation:
    """A conversation at the command line: the messages of its person, and what was printed of the agent's."""

    def __init__(self, agent: ReachedAgent, options: Namespace) -> None:
        self._agent, self._options = agent, options
        self._printed_ids: set[str] = set()  # of messages
        self._printed_blocks: dict[str, int] = {}  # number, by artifact
        self._state = ""

    def run(self) -> str:
        """Talk until the task has ended, or the agent waits for something that no terminal can give.

        Raises `CommandError` with the exit code of the last state, unless the task is completed.
        """
        from agentcards.official_client.dialogue import converse
        from agentcards.official_client.shown import ShownMessage

        text, within, earlier = self._options.text, float(self._options.timeout), None
        while True:
            heard: Heard | None = None
            for heard in converse(self._agent, text, stream=self._streams, within=within, earlier=earlier):
                self._print(heard)
            if heard is None or isinstance(heard.shown, ShownMessage):
                return ""
            if not heard.waits_for_us:
                raise CommandError("the agent is still at work", returncode=STILL_AT_WORK)
            if not heard.shown.state.is_interrupted or not sys.stdin.isatty():
                return _end(heard.shown)
            text, earlier = input("> "), heard.shown

    @property
    def _streams(self) -> bool:
        return bool(self._options.stream and self._agent.interface.streams)

    def _print(self, heard: Heard) -> None:
        from agentcards.official_client.shown import ShownMessage

        if self._options.json:
            _write(output.as_json(heard.event))
            return
        if isinstance(heard.shown, ShownMessage):
            self._print_message(heard.shown)
            return
        closing = heard.shown.closing
        for said in heard.shown.words:
            if said is not closing:
                self._print_message(said)
        self._print_artifacts(heard.shown)
        if heard.shown.state != self._state:
            self._state = heard.shown.state
            _write(f"[{_words(heard.shown.state)}]")
        if closing is not None:
            self._print_message(closing)

    def _print_message(self, message: ShownMessage) -> None:
        if message.message_id in self._printed_ids:
            return
        self._printed_ids.add(message.message_id)
        if message.progress is not None:
            _write(f"{message.progress:.0%}")
        for text in output.blocks(message.blocks):
            _write(text)

    def _print_artifacts(self, shown: ShownTask) -> None:
        """Print the blocks that were added to each artifact. An artifact that was replaced is printed anew."""
        for artifact in shown.artifacts.values():
            seen = self._printed_blocks.get(artifact.artifact_id, 0)
            seen = 0 if seen > len(artifact.blocks) else seen
            if len(artifact.blocks) > seen:
                if not seen:
                    _write(f"artifact {artifact.details.get('name') or artifact.artifact_id}:")
                for text in output.blocks(artifact.blocks[seen:]):
                    _write(text)
            self._printed_blocks[artifact.artifact_id] = len(artifact.blocks)


def _end(shown: ShownTask) -> str:
    """Return nothing for a completed task; raise `CommandError` with the exit code of any other state."""
    code = EXIT_CODES.get(shown.state)
    if code is None:
        return ""
    words = content.text_of(shown.closing.blocks) if shown.closing else ""
    state = _words(shown.state)
    raise CommandError(output.printable(f"{state}: {words}" if words else state), returncode=code)


def _words(state: str) -> str:
    return state.removeprefix("TASK_STATE_").lower().replace("_", " ")


def _write(text: str) -> None:
    sys.stdout.write(f"{output.printable(text)}\n")
    sys.stdout.flush()
