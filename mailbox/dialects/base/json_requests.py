"""Requests and answers of a hub whose dialects all speak JSON, so that nothing is negotiated."""

from __future__ import annotations

import json
from typing import Any

import orjson
from django.http import HttpRequest
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


def encoded(data: Any) -> bytes:
    """Return data as JSON text in UTF-8."""
    try:
        return orjson.dumps(data)
    except TypeError:  # an integer beyond 64 bits
        return json.dumps(data, default=str, separators=(",", ":")).encode()


class JSONRenderer(BaseRenderer):
    media_type = "application/json"
    format = "json"
    charset = None

    def render(self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None) -> bytes:
        return encoded(data)


class AlwaysJSON(BaseContentNegotiation):
    """Answer JSON to every Accept header: no program reads an error page."""

    def select_parser(self, request: Request, parsers: Any) -> Any:
        return parsers[0]

    def select_renderer(self, request: Request, renderers: Any, format_suffix: str | None = None) -> Any:
        return renderers[0], renderers[0].media_type


class JSONRequest(Request):
    """A request to a dialect. It has no parsers and no authenticators: views read the body and find the caller."""

    def __init__(self, request: HttpRequest) -> None:
        super().__init__(request, negotiator=_NEGOTIATOR)
        # The attributes that each request needs. The base class reads them through a failed look-up.
        self.method, self.headers, self.META = request.method, request.headers, request.META
        self.accepted_renderer, self.accepted_media_type = _RENDERER, JSONRenderer.media_type


_NEGOTIATOR = AlwaysJSON()
_RENDERER = JSONRenderer()
