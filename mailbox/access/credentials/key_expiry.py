"""When a new API key expires."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from django.conf import settings

from mailbox.access.callers import Caller
from mailbox.models import ApiKey
from mailbox.words.errors import InvalidRequestError


class Expiry(NamedTuple):
    """The expiry of a key, None for never. ``renews`` is as in `ApiKey`."""

    expires_at: datetime | None
    renews: bool


def of_new(caller: Caller, wanted: datetime | None, now: datetime) -> Expiry:
    """Return the expiry of a key that ``caller`` makes and that shall expire at ``wanted``.

    None means as late as possible: with the caller's own key if that expires, and within A2A_KEY_MAX_AGE_MS; without
    both never. Raises `InvalidRequestError` if ``wanted`` is later.
    """
    own = ApiKey.objects.filter(public_id=caller.credential).values_list("expires_at", flat=True).first()
    aged = _end_of_age(now)
    latest = min((limit for limit in (own, aged) if limit is not None), default=None)
    if wanted is not None and latest is not None and wanted > latest:
        limit = "the expiry of the key that makes it" if latest == own else "A2A_KEY_MAX_AGE_MS"
        raise InvalidRequestError({"expires_at": f"must be at most {latest:%Y-%m-%dT%H:%M:%SZ}, because of {limit}"})
    return Expiry(wanted or latest, renews=wanted is None and aged is not None and own is None)


def of_successor(old: ApiKey, now: datetime) -> Expiry:
    """Return the expiry of the key that replaces ``old``: that of ``old``, or a new age if only the age limits it."""
    aged = _end_of_age(now)
    if old.expires_at is None or old.renews:
        return Expiry(aged, renews=aged is not None)
    return Expiry(old.expires_at if aged is None else min(old.expires_at, aged), renews=False)


def _end_of_age(now: datetime) -> datetime | None:
    return now + settings.A2A_KEY_MAX_AGE if settings.A2A_KEY_MAX_AGE else None
