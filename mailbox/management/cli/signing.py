"""``agents new-key``, ``agents prove``, ``agents set-key``, ``agents retire-key``: the keys that sign requests."""

import json
import os
from argparse import Namespace
from pathlib import Path
from typing import Any

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.conf import settings
from django.core.management.base import CommandError

from mailbox.access.agents import registration
from mailbox.access.callers import Caller
from mailbox.access.credentials import signing_keys
from mailbox.management.cli import arguments
from mailbox.management.cli.arguments import NAME, WRONG_USAGE, argument, command
from mailbox.words import ed25519
from mailbox.words.ed25519 import KeyProof
from mailbox.words.errors import InvalidRequestError


def add_commands(verbs: arguments.Commands) -> None:
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
