"""The ids in the paths of routes."""

from __future__ import annotations

import re
from uuid import UUID

from django.urls import register_converter
from django.urls.converters import StringConverter

_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE | re.ASCII)


class MalformedId(str):
    """A part of a path that should be a UUID and is none."""

    __slots__ = ()


class IdConverter:
    """``<id:...>``, a UUID in upper or lower case.

    Any other text matches too, as a `MalformedId`: the view then answers with a clear error.
    """

    regex = "[^/]+"

    def to_python(self, text: str) -> UUID | MalformedId:
        return UUID(text) if _UUID.fullmatch(text) else MalformedId(text)

    def to_url(self, value: UUID) -> str:
        return str(value)


class TextConverter(StringConverter):
    """``<text:...>``, any text at the end of a path, also with slashes and line breaks."""

    regex = "(?s:.+)"


register_converter(IdConverter, "id")
register_converter(TextConverter, "text")
