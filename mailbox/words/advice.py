"""The error texts that callers read. If a capability is missing, the text also says how to get it.

Each interface chooses the text for its readers. Programs get the command that their operator can run. People get the
groups that hold the capability.
"""

from __future__ import annotations

from mailbox.words.errors import CapabilityMissingError, Lack, MailboxError, Remedy


def to_program(refusal: MailboxError) -> str:
    """Return the error's message, with the remedy for a program or for the command line."""
    lack = _lack(refusal)
    return refusal.message if lack is None else f"{refusal.message} {_for_program(lack)}"


def to_person(refusal: MailboxError) -> str:
    """Return the error's message, with the remedy for the person at the dashboard who was refused."""
    lack = _lack(refusal)
    if lack is None:
        return refusal.message
    return _for_people(refusal, lack, f"You are in {f'the group {lack.group}' if lack.group else 'no group'}")


def to_others(refusal: MailboxError, name: str) -> str:
    """Return the error's message, with the remedy, for people who read later that the person ``name`` was refused.

    A person without a role is in no group, is inactive, or no longer exists.
    """
    lack = _lack(refusal)
    if lack is None:
        return refusal.message
    has = f"was in the group {lack.group}" if lack.group else "had no role any more"
    return _for_people(refusal, lack, f"{name} {has}")


def _lack(refusal: MailboxError) -> Lack | None:
    return refusal.lack if isinstance(refusal, CapabilityMissingError) else None


def _for_people(refusal: MailboxError, lack: Lack, group: str) -> str:
    held = f"the capability is held by {' and '.join(lack.held_by)}"
    return f"{refusal.message} Its scope is {lack.scope_id}. {group}; {held}."


def _for_program(lack: Lack) -> str:
    match lack.remedy:
        case Remedy.GROUP:
            return f"Use the API key of a person in the group {' or '.join(lack.held_by)}."
        case Remedy.TARGET:
            return f'"{lack.target}" names no agent, or several: register the agent, or use its full name (name@host).'
        case Remedy.GRANT:
            return f"Grant it with: a2a grant give {lack.agent} {lack.action}"
