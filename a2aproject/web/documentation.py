"""The documents that the hub serves: the site of the documentation, the OpenAPI document, and the API reference.

The site is the folder that `make site` writes, and has a policy of its own for scripts. A process reads, builds and
compresses each document once, because any stranger may request it.
"""

import gzip
import mimetypes
import re
import threading
from base64 import b64encode
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from csp.constants import SELF, UNSAFE_INLINE
from csp.decorators import csp_replace, csp_update
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.middleware.gzip import re_accepts_gzip
from django.urls import reverse
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.views.decorators.http import require_safe
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

_INLINE = re.compile(rb"<script>(.*?)</script>", re.DOTALL)
_NOT_BUILT = "The documentation of this hub is not built: run `make site`. Its sources have the same pages in `docs`.\n"
_MISSING = "404.html"
_STYLE_OF_THE_SEARCH = "'sha256-NwSx/R2V/U4jnW0Tq5pQ53Y/rzPVJ4dqE7D6UTA/J1k='"  # a script of zensical 0.0.73 adds it
MAX_AGE = 300  # seconds
MOST_FILES = 256  # of the site, which are kept; it has about 100
_building = threading.Lock()
_built: dict[tuple[str, str], "_Document"] = {}  # by the URL configuration and the media type


class _Document(NamedTuple):
    content: bytes
    compressed: bytes
    etag: str  # weak: the same for both
    scripts: list[str]  # the sources of a policy that admit its inline scripts


def _document(content: bytes) -> _Document:
    etag = f'W/"{sha256(content).hexdigest()[:32]}"'
    scripts = [f"'sha256-{b64encode(sha256(script).digest()).decode()}'" for script in _INLINE.findall(content)]
    return _Document(content, gzip.compress(content), etag, scripts)


def _respond(request: HttpRequest, document: _Document, **options: Any) -> HttpResponseBase:
    """Return the document, in its shorter form if the client accepts gzip; 304 if the client has the document."""
    accepts = re_accepts_gzip.search(request.headers.get("Accept-Encoding", ""))
    is_compressed = accepts and len(document.compressed) < len(document.content)
    response = HttpResponse(document.compressed if is_compressed else document.content, **options)
    if is_compressed:
        response["Content-Encoding"] = "gzip"
    patch_vary_headers(response, ["Accept-Encoding"])
    response["ETag"] = document.etag
    return get_conditional_response(request, etag=document.etag, response=response) or response


@require_safe
def manual(request: HttpRequest, path: str) -> HttpResponseBase:
    """Answer with a page or a file of the site, or with its page of a missing address and the code 404.

    A page may run the scripts that it holds and use the style of its search, and no others inline. If the site is not
    built, the answer is a 404 that says how to build it.
    """
    try:
        return _answer(request, path)
    except FileNotFoundError:
        return HttpResponse(_NOT_BUILT, status=404, content_type="text/plain; charset=utf-8")


def _answer(request: HttpRequest, path: str) -> HttpResponseBase:
    """Answer from the site. Raise `FileNotFoundError` if it is not built, or if a new one replaces it meanwhile."""
    site = Path(settings.A2A_SITE)
    folder = site.stat()
    version = folder.st_ino, folder.st_mtime_ns
    files = _files(site, version)
    wanted = f"{path}index.html" if path.endswith("/") or not path else path
    if f"{wanted}/index.html" in files:
        return HttpResponseRedirect(f"{request.path}/")
    file_name = wanted if wanted in files else _MISSING
    document = _file(site / file_name, version)
    media_type = mimetypes.guess_type(file_name)[0] or "application/octet-stream"
    status = 200 if wanted in files else 404
    headers = {"Cache-Control": "no-cache"}
    response = _respond(request, document, content_type=media_type, status=status, headers=headers)
    if media_type == "text/html":  # also where the page is unchanged: a browser takes the policy of the newest answer
        sources = {"script-src": [SELF, *document.scripts], "style-src": [SELF, _STYLE_OF_THE_SEARCH]}
        csp_replace(sources)(lambda _: response)(request)
    return response


# `make site` replaces the folder as a whole, so each version of the site has a folder of its own.
@lru_cache(maxsize=1)
def _files(site: Path, version: tuple[int, int]) -> frozenset[str]:
    return frozenset(file.relative_to(site).as_posix() for file in site.rglob("*") if file.is_file())


@lru_cache(maxsize=MOST_FILES)
def _file(path: Path, version: tuple[int, int]) -> _Document:
    return _document(path.read_bytes())


@require_safe
@csp_update({"script-src": [UNSAFE_INLINE], "style-src": [UNSAFE_INLINE]})
def reference(request: HttpRequest) -> HttpResponseBase:
    """Answer with the page of the API reference. It is Swagger's, and starts by an inline script."""
    headers = {"Cache-Control": "no-cache", "Cross-Origin-Opener-Policy": "unsafe-none"}
    return _respond(request, _reference(), headers=headers)


@cache
def _reference() -> _Document:
    blank = HttpRequest()  # nothing of a client's own request stands in the page that all get
    blank.method = "GET"
    page = SpectacularSwaggerView.as_view(url=reverse("api-schema"))(blank)
    return _document(page.render().content)


class DocumentView(SpectacularAPIView):
    """The document as YAML or JSON, with an ETag. Caches may keep it for `MAX_AGE` seconds."""

    schema = None  # it does not describe itself
    http_method_names = ["get", "head", "options"]

    def get(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponseBase:
        renderer = request.accepted_renderer
        with _building:
            document = _openapi(renderer)
        headers = {
            "Cache-Control": f"public, max-age={MAX_AGE}",
            "Content-Disposition": f'inline; filename="A2A Hub.{renderer.format}"',
        }
        return _respond(request._request, document, content_type=renderer.media_type, headers=headers)


def _openapi(renderer: BaseRenderer) -> _Document:
    key = settings.ROOT_URLCONF, renderer.media_type
    if key not in _built:
        document = SchemaGenerator(urlconf=key[0]).get_schema(public=True)  # type: ignore[no-untyped-call]
        _built[key] = _document(renderer.render(document, renderer_context={}))
    return _built[key]
