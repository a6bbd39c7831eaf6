"""Compresses the pages for people. The API for agents answers plainly: its documents are small."""

from django.http import HttpRequest, HttpResponseBase
from django.middleware.gzip import GZipMiddleware

PATHS = ("/ops/", "/admin/", "/docs/", "/api/schema/", "/api/docs/")
TYPES = ("text/", "application/json", "application/jsonl", "application/javascript", "application/vnd.oai", "image/svg")


class CompressionMiddleware(GZipMiddleware):
    """Compresses text under `PATHS`. Its random padding hides the length of a page (BREACH)."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if not request.path_info.startswith(PATHS) or not response.headers.get("Content-Type", "").startswith(TYPES):
            return response
        compressed: HttpResponseBase = super().process_response(request, response)
        return compressed
