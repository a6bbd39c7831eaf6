"""Actors of journal rows, as the query language reads them."""

from __future__ import annotations

from django.db.models import Q

from mailbox.inspection.search.values import Moment, text
from mailbox.models import Agent, AuditEvent
from mailbox.models.agent import NAMESAKES


def actor(value: str, at: Moment) -> Q:
    """Read an actor. Only agents' names contain an @, and only rows of agents have a public key.

    A name alone is that of a person or of an agent: ``ana`` also finds ``user:ana`` and ``ana@local``.
    """
    if "@" in value:
        return _agent(value, text("actor")(value, at) & Q(actor_pubkey=None))
    if ":" in value:
        return text("actor")(value, at) & Q(actor_pubkey=None)
    if value.endswith("*"):
        return text("actor")(value, at) | text("actor")(f"user:{value}", at)
    people = Q(actor__in=[value, f"user:{value}"], actor_pubkey=None)
    keys = list(Agent.objects.filter(local=value).values_list("pubkey", flat=True)[:NAMESAKES])
    return people | Q(actor_pubkey__in=keys) if keys else people


def _agent(display: str, unsigned: Q) -> Q:
    """Read the events of an agent. If it has ``unsigned`` events too, the query reads two indexes."""
    key = Agent.objects.filter(display=display).values_list("pubkey", flat=True).first()
    if key is None:
        return unsigned
    signed = Q(actor_pubkey=key)
    return signed | unsigned if AuditEvent.objects.filter(unsigned).exists() else signed
