"""Changes of all stored secrets and texts of agents: encryption under the newest SECRET_KEY, and erasure.

The erasure covers the texts in an agent's profile and cards.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from django.db import models, transaction
from django.db.models import Q
from django.db.models.functions import Cast
from django.utils import timezone

from agentcards.fields import SEALED, SealedUrlField
from agentcards.models import AgentCard, AgentProfile, RemoteCall
from mailbox.access import audit
from mailbox.access.audit import Journal
from mailbox.access.callers import Caller
from mailbox.database import write_turns
from mailbox.journal import hub_entries
from mailbox.models import Agent, PushConfig, PushDelivery, SecondFactor
from mailbox.words import secret_box
from mailbox.words.envelopes import check_reason
from mailbox.words.errors import WrongPartyError
from mailbox.words.redaction import has_credentials
from mailbox.words.secret_box import UnreadableSecretError

BATCH = 200  # rows of one transaction

COLUMNS: tuple[tuple[type[models.Model], str], ...] = (
    (PushConfig, "sealed_secret"),
    (PushConfig, "sealed_token"),
    (PushConfig, "sealed_credentials"),
    (PushDelivery, "sealed_secret"),
    (AgentProfile, "remote_url"),
    (AgentProfile, "card_url"),
    (AgentProfile, "card_key"),
    (RemoteCall, "base_url"),
    (SecondFactor, "key"),
)
_ERASED = dict.fromkeys(
    ("name", "description", "persona_archetype", "card_version", "documentation_url", "icon_url"), ""
)


@dataclass(slots=True)
class Resealed:
    """How many secrets were encrypted again, and how many no known secret decrypts."""

    resealed: int = 0
    unreadable: int = 0


def reseal(caller: Caller) -> Resealed:
    """Encrypt each stored secret under the newest SECRET_KEY, also a remote URL that an earlier version stored plain.

    A call that was cut can be repeated: secrets that are up to date are left alone. Each transaction changes at most
    `BATCH` rows, and locks them. Secrets that cannot be decrypted stay as they are. Journals ``secrets_resealed``.
    """
    done = Resealed()
    for model, column in COLUMNS:
        _reseal_column(model, column, done)
    audit.note(caller, hub_entries.SecretsResealedEntry(done.resealed, done.unreadable))
    return done


def _reseal_column(model: type[models.Model], column: str, done: Resealed) -> None:
    renewed = _renewed_url if isinstance(model._meta.get_field(column), SealedUrlField) else _renewed
    if model is SecondFactor:
        renewed = _renewed_key
    last: int | None = 0
    while last is not None:
        with write_turns.turn(), transaction.atomic(durable=True):
            last = _reseal_batch(model, column, last, renewed, done)


def _reseal_batch(
    model: type[models.Model], column: str, after: int, renewed: Callable[[str], str | None], done: Resealed
) -> int | None:
    """Renew the next rows; return the primary key of the last row, None if there is no further row."""
    rows = model._default_manager.filter(pk__gt=after).exclude(**{f"{column}__isnull": True}).order_by("pk")
    stored = rows.select_for_update().annotate(stored=Cast(column, models.TextField())).values_list("pk", "stored")
    batch = list(stored[:BATCH])
    for pk, text in batch:
        try:
            new = renewed(text) if text else None
        except UnreadableSecretError:
            done.unreadable += 1
            continue
        if new is not None:
            model._default_manager.filter(pk=pk).update(**{column: new})
            done.resealed += 1
    return batch[-1][0] if len(batch) == BATCH else None


def _renewed(sealed: str) -> str | None:
    """Return the text to store in place of ``sealed``, None if that is up to date. Raise `UnreadableSecretError`."""
    return None if secret_box.is_current(sealed) else secret_box.seal(secret_box.unseal(sealed))


def _renewed_key(sealed: str) -> str | None:
    """Return the sealed key of a second factor as `_renewed` does."""
    new = secret_box.seal_key(secret_box.unseal_key(sealed))
    return None if new == sealed else new


def _renewed_url(stored: str) -> str | None:
    """Return the URL that the field shall encrypt in place of ``stored``, None if that is up to date."""
    if not stored.startswith(SEALED):
        return stored if has_credentials(stored) else None
    sealed = stored.removeprefix(SEALED)
    return None if secret_box.is_current(sealed) else secret_box.unseal(sealed)


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
            journal.beside(hub_entries.ErasedEntry(f"agent:{agent.display}", reason, rows=(), erased=counts))
            journal.write()
    return counts
