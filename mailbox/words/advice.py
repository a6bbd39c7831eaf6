"""What a refused caller reads: the refusal, and what would help where a capability is missing.

Each door chooses by who reads it. A program is told what to ask its operator for, a person which group to ask for.
"""

from __future__ import annotations

from mailbox.words.errors import CapabilityMissingError, Lack, MailboxError, Remedy


def to_program(refusal: MailboxError) -> str:
    """Return the message of a refusal for the program, or the shell, that called."""
    lack = _lack(refusal)
    return refusal.message if lack is None else f"{refusal.message} {_for_program(lack)}"


def to_person(refusal: MailboxError) -> str:
    """Return the message of a refusal for the person at the dashboard who called."""
    lack = _lack(refusal)
    if lack is None:
        return refusal.message
    holders = " and ".join(lack.held_by)
    group = f"You are in the group {lack.group}; it is held by {holders}."
    return f"{refusal.message} Its scope is {lack.scope_id}. {group}"


def _lack(refusal: MailboxError) -> Lack | None:
    return refusal.lack if isinstance(refusal, CapabilityMissingError) else None


def _for_program(lack: Lack) -> str:
    match lack.remedy:
        case Remedy.GROUP:
            return "It needs a key whose owner is in a group that holds it."
        case Remedy.TARGET:
            return f'No agent alone is called "{lack.target}" here: register it, or name it whole.'
        case Remedy.GRANT:
            return f"Grant it with: manage.py a2a grant {lack.agent} {lack.action}"
