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
RESEND = "a2a.push.resend"  # held by operators and admins only, like the six below
ROUTES = "a2a.routes"
DROP_REPLAY = "a2a.replay.drop"
PAUSE = "a2a.agents.pause"
MANAGE_REGISTRY = "a2a.registry.manage"  # for the job cards of other agents; an agent registers its own without it
VERIFY = "a2a.audit.verify"
SHARE_VIEWS = "a2a.views.share"
PROFILE = "a2a.agents.profile"  # held by admins only, like the two below
IMPORT = "a2a.inboxes.import"
TOOLS = "a2a.tools"

TARGETED = (SEND, RESPOND)
GRANTABLE = (REQUEUE, FORCE_ERROR, COMPACT, REGISTER)


@dataclass(frozen=True, slots=True)
class Action:
    """An action as a grant spells it: a verb such as ``a2a.send``, and for some verbs the agent that it is aimed at."""

    verb: str
    target: str | None = None  # a display, a public key, or * for any agent

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``a2a.send.<agent>``, ``a2a.respond.<agent>`` or one of `GRANTABLE`; raise `InvalidRequestError`."""
        if text in GRANTABLE:
            return cls(text)
        for verb in TARGETED:
            target = text.removeprefix(f"{verb}.")
            if target == text:
                continue
            if target != "*" and not DISPLAY.fullmatch(target) and not LOCAL_PART.fullmatch(target):
                raise InvalidRequestError(
                    {"action": f'"{target[:200]}" is not the name of an agent; example: ben@local'}
                )
            return cls(verb, target)
        known = ", ".join([*(f"{verb}.<agent>" for verb in TARGETED), *GRANTABLE])
        raise InvalidRequestError({"action": f"unknown action; known actions: {known}"})

    @property
    def local_part(self) -> str | None:
        """The target if it is a bare local part; None for any other target, and for an action without a target."""
        target = self.target
        return None if target in (None, "*") or "@" in target or is_pubkey(target) else target

    def __str__(self) -> str:
        return self.verb if self.target is None else f"{self.verb}.{self.target}"
