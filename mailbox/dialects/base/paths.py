"""The ids in the paths of routes."""

from __future__ import annotations

import re
from uuid import UUID

from django.urls import register_converter

_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE | re.ASCII)


class MalformedId(str):
    """What stands in a path where a UUID is wanted."""

    __slots__ = ()


class IdConverter:
    """``<id:...>``, a UUID in whatever case. Anything else leads to the route, too, which says what is wrong with it."""

    regex = "[^/]+"

    def to_python(self, text: str) -> UUID | MalformedId:
        return UUID(text) if _UUID.fullmatch(text) else MalformedId(text)

    def to_url(self, value: UUID) -> str:
        return str(value)


register_converter(IdConverter, "id")
