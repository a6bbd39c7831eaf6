"""``a2a whoami``."""

from __future__ import annotations

from typing import Any

from a2a_hub_client.cli.command import alone, command
from a2a_hub_client.cli.session import Session

app = alone()


@command(app)
def whoami(session: Session) -> None:
    """Show the owner of the key, and the hub."""
    answer = session.read("/a2a/me")
    session.printer.details(answer, lambda: [("hub", session.hub.url), *owner_pairs(answer)])


def owner_pairs(me: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the names and values of the owner of a key."""
    agent = me["agent"]
    return [
        ("agent", agent["display"] if agent else ""),
        ("public key", agent["pubkey"] if agent else ""),
        ("person", me["person"] or ""),
        ("role", me["role"] or ""),
    ]


def owner(me: dict[str, Any]) -> str:
    """Return the owner of a key in a few words."""
    return f"agent {me['agent']['display']}" if me["agent"] else f"{me['person']}, {me['role'] or 'no role'}"


def owner_name(me: dict[str, Any]) -> str:
    """Return the name of the owner of a key."""
    return str(me["agent"]["display"] if me["agent"] else me["person"])
