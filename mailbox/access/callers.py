"""The caller of a verb: its agent or role, its interface, and its trust."""

from __future__ import annotations

import getpass
from dataclasses import dataclass
from enum import StrEnum

from mailbox.access.nonces import Nonce
from mailbox.models import Agent, AuditEvent, CapabilityGrant
from mailbox.words.errors import WrongPartyError


class Role(StrEnum):
    """The role of a person: the name of a Django group."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The authenticated party of one request.

    Without an ``agent`` the caller is a person or code in this process, and sees all rows.
    """

    name: str  # as the journal names the caller
    source: AuditEvent.Source
    agent: Agent | None = None  # the agent that the caller acts as; None for people and code in this process
    role: Role | None = None  # None for agents, and for people without a role
    trusted: bool = False  # needs no capability, because it can open the database without the hub
    request_id: str = ""
    grants: tuple[CapabilityGrant, ...] | None = None  # the agent's live grants; None: not read yet
    oversees: bool = False  # an agent of the hub itself, which sees all rows
    sends_only: bool = False  # came by a public route: may send tasks, and read the tasks that its agent sent
    is_anonymous: bool = False  # came without credentials, to an agent that is open to anyone
    credential: str = ""  # the public id of the API key; "" without a key
    nonce: Nonce | None = None  # of a signed request; its first transaction spends it
    address: str = ""  # the network address of the client; "" for the command line, the scheduler and this process

    @classmethod
    def command_line(cls, agent: Agent | None = None) -> Caller:
        """Return the system user at the command line, acting as ``agent`` unless that is None."""
        return cls(name=f"cli:{_system_user()}", source=AuditEvent.Source.CLI, agent=agent, trusted=True)

    @classmethod
    def local(cls, agent: Agent | None = None) -> Caller:
        """Return code in this process, acting as ``agent``. Without an agent it receives from every mailbox."""
        name = agent.display if agent else "local"
        return cls(name=name, source=AuditEvent.Source.LOCAL, agent=agent, trusted=True)

    @classmethod
    def scheduler(cls, agent: Agent) -> Caller:
        """Return the hub's scheduler, acting as its own agent ``agent``. It needs grants like any other agent."""
        return cls(name=agent.display, source=AuditEvent.Source.SCHEDULER, agent=agent, oversees=True)

    @classmethod
    def at_dashboard(cls, username: str, address: str, role: Role | None = None) -> Caller:
        """Return the person with this name, who uses a page from the network ``address``."""
        return cls(name=f"user:{username}", source=AuditEvent.Source.DASHBOARD, role=role, address=address)

    @property
    def is_stranger(self) -> bool:
        """Whether anyone may be this caller, as by a public route or without credentials."""
        return self.sends_only or self.is_anonymous

    @property
    def party(self) -> Agent | None:
        """The agent whose rows the caller sees; None sees all rows."""
        return None if self.oversees else self.agent

    def must_be_party(self) -> None:
        """Raise `WrongPartyError` for people and for callers by a public route.

        Only agents and trusted code receive tasks and results.
        """
        self.must_do_more_than_send()
        if self.agent is None and not self.trusted:
            raise WrongPartyError

    def must_do_more_than_send(self) -> None:
        """Raise `WrongPartyError` for a caller that came by a public route."""
        if self.sends_only:
            raise WrongPartyError(
                "A public route can only send tasks, and read the tasks that it sent. Use the agent's API key."
            )


def _system_user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"
