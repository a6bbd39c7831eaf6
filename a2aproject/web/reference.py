"""The OpenAPI document, built once in a process: building takes long, and every client may request it."""

from __future__ import annotations

import threading
from hashlib import sha256
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.views import SpectacularAPIView
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

MAX_AGE = 300  # seconds

_building = threading.Lock()
_built: dict[tuple[str, str], bytes] = {}  # by the URL configuration and the media type


class DocumentView(SpectacularAPIView):
    """The document as YAML or JSON, with an ETag. Caches may keep it for `MAX_AGE` seconds."""

    schema = None  # it does not describe itself
    http_method_names = ["get", "head", "options"]

    def get(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponseBase:
        renderer = request.accepted_renderer
        with _building:
            text = _document(renderer)
        etag = f'"{sha256(text).hexdigest()[:32]}"'
        headers = {
            "Cache-Control": f"public, max-age={MAX_AGE}",
            "Content-Disposition": f'inline; filename="A2A Hub.{renderer.format}"',
            "ETag": etag,
        }
        response = HttpResponse(text, content_type=renderer.media_type, headers=headers)
        plain: HttpRequest = request._request
        return get_conditional_response(plain, etag=etag, response=response) or response


def _document(renderer: BaseRenderer) -> bytes:
    key = settings.ROOT_URLCONF, renderer.media_type
    if key not in _built:
        document = SchemaGenerator(urlconf=key[0]).get_schema(public=True)  # type: ignore[no-untyped-call]
        _built[key] = renderer.render(document, renderer_context={})
    return _built[key]
