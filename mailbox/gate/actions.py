"""The actions that need a capability, as grants spell them. Source: Covenant A2A, "Capability gating"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from mailbox.words.envelopes import DISPLAY, LOCAL_PART, is_pubkey
from mailbox.words.errors import InvalidRequestError

SEND = "a2a.send"
RESPOND = "a2a.respond"
REQUEUE = "a2a.repair.requeue"
FORCE_ERROR = "a2a.repair.force_error"
COMPACT = "a2a.compact"
REGISTER = "a2a.agents.register"
GRANT = "a2a.capabilities.grant"  # held by admins only, never granted to an agent
RESEND = "a2a.push.resend"  # held by operators and admins only, as the four below
ROUTES = "a2a.routes"
DROP_REPLAY = "a2a.replay.drop"
PAUSE = "a2a.agents.pause"
MANAGE_REGISTRY = "a2a.registry.manage"  # other agents' job cards; its own an agent registers without
PROFILE = "a2a.agents.profile"  # held by admins only, as the two below
IMPORT = "a2a.inboxes.import"
TOOLS = "a2a.tools"

TARGETED = (SEND, RESPOND)
GRANTABLE = (REQUEUE, FORCE_ERROR, COMPACT, REGISTER)


@dataclass(frozen=True, slots=True)
class Action:
    """A verb such as ``a2a.send`` and, where it has one, the agent it is aimed at."""

    verb: str
    target: str | None = None  # a display, a public key, or * for any agent

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``a2a.send.<agent>`` or a plain action; raise `InvalidRequestError` for any other text."""
        if text in GRANTABLE:
            return cls(text)
        for verb in TARGETED:
            target = text.removeprefix(f"{verb}.")
            if target == text:
                continue
            if target != "*" and not DISPLAY.fullmatch(target) and not LOCAL_PART.fullmatch(target):
                raise InvalidRequestError({"action": f'"{target[:200]}" is no agent: name it whole, such as ben@local'})
            return cls(verb, target)
        known = ", ".join([*(f"{verb}.<agent>" for verb in TARGETED), *GRANTABLE])
        raise InvalidRequestError({"action": f"unknown action; known: {known}"})

    @property
    def local_part(self) -> str | None:
        """The target if it is a bare local part; None for any other target and without one."""
        target = self.target
        return None if target in (None, "*") or "@" in target or is_pubkey(target) else target

    def __str__(self) -> str:
        return self.verb if self.target is None else f"{self.verb}.{self.target}"
