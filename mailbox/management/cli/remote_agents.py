"""The registration of remote agents by the URL of their card."""

from argparse import Namespace
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from a2a_hub_client.credentials import KeyFile
from agentcards import profiles
from agentcards.models.validation import LONGEST_NAME, LONGEST_TEXT
from mailbox.access.agents.registration import Registration
from mailbox.access.callers import Caller
from mailbox.management.cli.arguments import WRONG_USAGE
from mailbox.words.ed25519 import KeyProof


def register(options: Namespace, proof: KeyProof | None) -> Registration:
    """Read the agent's card, and register the agent with its URL, its name and its description.

    Raises as `client.discover` if the card cannot be read, or offers no interface that the hub speaks.
    """
    from agentcards.official_client import client

    if options.card is None:
        raise CommandError("--key-file needs --card", returncode=WRONG_USAGE)
    key = read_key(options.key_file) if options.key_file else ""
    offered = client.discover(client.AgentAddress.parse(options.card, key))
    profile: dict[str, Any] = {
        "card_url": options.card,
        "card_key": key,
        "name": offered.name[:LONGEST_NAME],
        "description": offered.description[:LONGEST_TEXT],
    }
    return profiles.register_agent(
        Caller.command_line(), options.name, pubkey=options.pubkey, proof=proof, profile=profile
    )


def read_key(path: Path) -> str:
    """Return the API key in a file. Raise `CommandError` without one."""
    try:
        return KeyFile(path)()
    except (OSError, ValueError) as error:
        problem = error.strerror if isinstance(error, OSError) else "it has no key"
        raise CommandError(f"--key-file {path}: {problem}", returncode=WRONG_USAGE) from error
