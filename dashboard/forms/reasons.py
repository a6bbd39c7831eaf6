"""The person's latest reasons, offered again, because an incident often needs more than one act."""

from __future__ import annotations

from django.http import HttpRequest

OFFERED = 5


def offered(request: HttpRequest) -> list[str]:
    return list(request.session.get("reasons", []))


def remember(request: HttpRequest, reason: str) -> None:
    request.session["reasons"] = [reason, *(old for old in offered(request) if old != reason)][:OFFERED]
