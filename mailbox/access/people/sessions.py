"""The live sessions of a person."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session

MOST = 500  # the newest sessions of all people: their rows do not tell whose they are


def of_person(pk: int, now: datetime) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the key and the data of each session of the person with this key, among the newest `MOST` of the hub."""
    newest = Session.objects.filter(expire_date__gt=now).order_by("-expire_date")[:MOST]
    read = ((row.session_key, row.get_decoded()) for row in newest)
    return [(key, data) for key, data in read if data.get(SESSION_KEY) == str(pk)]
