"""The cards of remote agents, from their servers and from the cache that all processes share."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.utils import timezone

from agentcards.models import RemoteCard
from mailbox.outbound import exchange
from mailbox.outbound.errors import ExternalServiceError, ValidationError
from mailbox.outbound.exchange import ServerResponse

CARD_TTL = timedelta(minutes=5)
CARD_WITHIN = 10.0  # seconds


def fetch(url: str, headers: Mapping[str, str]) -> dict[str, Any]:
    """Return the card at this URL.

    Cards at most 5 minutes old come from the cache; a fetch deletes older cards. Failures are not cached. Only ``name``
    and ``version`` are validated. Raises `BlockedUrlError`, `ValidationError`, and `ExternalServiceError` within 10
    seconds.
    """
    fresh_after = timezone.now() - CARD_TTL
    cached = RemoteCard.objects.filter(url=url, fetched_at__gte=fresh_after).first()
    if cached is not None:
        return cached.card
    answer = exchange.exchange("GET", url, within=CARD_WITHIN, headers={"Accept": "application/json", **headers})
    if not answer.is_success:
        raise ExternalServiceError(
            f"Failed to fetch Agent Card from {url}: HTTP {answer.status} {answer.reason}".rstrip()
        )
    card = json_object(answer, f"Agent Card from {url}")
    if not card.get("name") or not card.get("version"):
        raise ValidationError(f"Invalid Agent Card from {url}: missing required fields (name, version)")
    RemoteCard.objects.filter(fetched_at__lt=fresh_after).delete()
    RemoteCard.objects.update_or_create(url=url, defaults={"document": json.dumps(card), "fetched_at": timezone.now()})
    return card


def forget_all() -> None:
    """Delete every cached card, for all processes."""
    RemoteCard.objects.all().delete()


def json_object(answer: ServerResponse, what: str) -> dict[str, Any]:
    """Return the answer's JSON object, and {} for any other JSON, as corvid-agent's client does.

    Raises `ExternalServiceError` if the body is not JSON. ``what`` names the answer in its message.
    """
    try:
        value = json.loads(answer.body)
    except (ValueError, RecursionError) as error:
        raise ExternalServiceError(f"Invalid {what}: not JSON") from error
    return value if isinstance(value, dict) else {}
