"""Erasure of the texts in an agent's profile and cards."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from agentcards.models import AgentCard, AgentProfile
from mailbox.access.audit import Journal
from mailbox.access.callers import Caller
from mailbox.database import write_turns
from mailbox.journal import entries
from mailbox.models import Agent
from mailbox.words.envelopes import check_reason
from mailbox.words.errors import WrongPartyError

_ERASED = dict.fromkeys(
    ("name", "description", "persona_archetype", "card_version", "documentation_url", "icon_url"), ""
)


def erase_cards(caller: Caller, agent: Agent, *, reason: str) -> Mapping[str, int]:
    """Blank the texts of the agent's profile and delete the cards of its jobs; return the number of rows by table.

    Raises `WrongPartyError` unless ``caller`` is trusted, and `InvalidRequestError` for a blank reason. Journals
    ``a2a_erased`` if anything was left to erase.
    """
    if not caller.trusted:
        raise WrongPartyError("Only the command line of the hub's machine erases.")
    reason = check_reason(reason)
    with write_turns.turn(), transaction.atomic(durable=True):
        profiles = AgentProfile.objects.filter(agent=agent).exclude(Q(**_ERASED))
        cards = AgentCard.objects.filter(registered_by=agent)
        counts = {"profiles": profiles.count(), "cards": cards.count()}
        if any(counts.values()):
            profiles.update(changed_at=timezone.now(), **_ERASED)
            cards.delete()
            journal = Journal(caller)
            journal.beside(entries.erased(f"agent:{agent.display}", reason, rows=(), counts=counts))
            journal.write()
    return counts
