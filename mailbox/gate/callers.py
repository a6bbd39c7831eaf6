"""Who is calling a verb, through which door, and on whose trust."""

from __future__ import annotations

import getpass
from dataclasses import dataclass
from enum import StrEnum

from mailbox.models import Agent, AuditEvent, CapabilityGrant
from mailbox.words.errors import WrongPartyError


class Role(StrEnum):
    """What a person may do; the name of the Django group that gives it."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The authenticated party of one request.

    ``name`` is what the journal calls it. ``agent`` is the agent it acts as, which sees what it is party to;
    None for people and the hub's own, who see everything. ``grants`` are the agent's live grants if the credential look-up read them, else None.
    ``credential`` is the public id of the API key it presented; "" without one.
    ``sends_only`` callers came by a public route: they send, and read what they sent.
    ``oversees`` is an agent of the hub's own that sees everything. ``trusted`` callers need no capability: they can open the database themselves.
    """

    name: str
    source: AuditEvent.Source
    agent: Agent | None = None
    role: Role | None = None
    trusted: bool = False
    request_id: str = ""
    grants: tuple[CapabilityGrant, ...] | None = None
    oversees: bool = False
    sends_only: bool = False
    credential: str = ""

    @classmethod
    def command_line(cls, agent: Agent | None = None) -> Caller:
        """Return the system user at the command line, acting as ``agent`` if one is given."""
        return cls(name=f"cli:{_system_user()}", source=AuditEvent.Source.CLI, agent=agent, trusted=True)

    @classmethod
    def local(cls, agent: Agent | None = None) -> Caller:
        """Return code in this process, acting as ``agent``; None receives from every mailbox."""
        name = agent.display if agent else "local"
        return cls(name=name, source=AuditEvent.Source.LOCAL, agent=agent, trusted=True)

    @classmethod
    def scheduler(cls, agent: Agent) -> Caller:
        """Return the hub's scheduler as its own agent, which may do what an operator granted it."""
        return cls(name=agent.display, source=AuditEvent.Source.SCHEDULER, agent=agent, oversees=True)

    @property
    def counted_as(self) -> str:
        """Who uses up a rate limit: the key, since an agent may give one to each of its programs; else the caller."""
        return f"key {self.credential}" if self.credential else self.name

    @property
    def party(self) -> Agent | None:
        """The agent whose tasks limit what this caller sees; None sees everything."""
        return None if self.oversees else self.agent

    def must_be_party(self) -> None:
        """Raise `WrongPartyError` for people: only agents, and code on local trust, receive tasks and results."""
        if self.agent is None and not self.trusted:
            raise WrongPartyError

    def must_do_more_than_send(self) -> None:
        """Raise `WrongPartyError` for a caller that came by a public route."""
        if self.sends_only:
            raise WrongPartyError("a public route only sends tasks and reads those it sent; use the agent's API key")


def _system_user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"
