"""The documents that the hub serves: the site of the documentation, and the OpenAPI document.

The site is the folder that `make site` writes, and has a policy of its own for scripts. The OpenAPI document is built
once in a process: building takes long, and every client may request it.
"""

import mimetypes
import re
import threading
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

from csp.constants import SELF
from csp.decorators import csp_replace
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.utils.cache import get_conditional_response
from django.views.decorators.http import require_safe
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.views import SpectacularAPIView
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

_INLINE = re.compile(rb"<script>(.*?)</script>", re.DOTALL)
_NOT_BUILT = "The documentation of this hub is not built: run `make site`. Its sources have the same pages in `docs`.\n"
_MISSING = "404.html"
_STYLE_OF_THE_SEARCH = "'sha256-NwSx/R2V/U4jnW0Tq5pQ53Y/rzPVJ4dqE7D6UTA/J1k='"  # a script of zensical 0.0.73 adds it
MAX_AGE = 300  # seconds
_building = threading.Lock()
_built: dict[tuple[str, str], bytes] = {}  # by the URL configuration and the media type


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
    files = {file.relative_to(site).as_posix() for file in site.rglob("*") if file.is_file()}
    wanted = f"{path}index.html" if path.endswith("/") or not path else path
    if f"{wanted}/index.html" in files:
        return HttpResponseRedirect(f"{request.path}/")
    file_name = wanted if wanted in files else _MISSING
    content = (site / file_name).read_bytes()
    media_type = mimetypes.guess_type(file_name)[0] or "application/octet-stream"
    status = 200 if wanted in files else 404
    response = _unless_known(request, HttpResponse(content, media_type, status, headers={"Cache-Control": "no-cache"}))
    if media_type == "text/html":  # also where the page is unchanged: a browser takes the policy of the newest answer
        sources = {"script-src": [SELF, *_hashes(content)], "style-src": [SELF, _STYLE_OF_THE_SEARCH]}
        csp_replace(sources)(lambda _: response)(request)
    return response


def _unless_known(request: HttpRequest, response: HttpResponse) -> HttpResponseBase:
    """Give the response an ETag of its content; return it, or 304 to a client that has the content."""
    response["ETag"] = etag = f'"{sha256(response.content).hexdigest()[:32]}"'
    return get_conditional_response(request, etag=etag, response=response) or response


def _hashes(page: bytes) -> list[str]:
    """Return the sources of a policy that admit the inline scripts of the page."""
    return [f"'sha256-{b64encode(sha256(script).digest()).decode()}'" for script in _INLINE.findall(page)]


class DocumentView(SpectacularAPIView):
    """The document as YAML or JSON, with an ETag. Caches may keep it for `MAX_AGE` seconds."""

    schema = None  # it does not describe itself
    http_method_names = ["get", "head", "options"]

    def get(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponseBase:
        renderer = request.accepted_renderer
        with _building:
            text = _document(renderer)
        headers = {
            "Cache-Control": f"public, max-age={MAX_AGE}",
            "Content-Disposition": f'inline; filename="A2A Hub.{renderer.format}"',
        }
        response = HttpResponse(text, content_type=renderer.media_type, headers=headers)
        return _unless_known(request._request, response)


def _document(renderer: BaseRenderer) -> bytes:
    key = settings.ROOT_URLCONF, renderer.media_type
    if key not in _built:
        document = SchemaGenerator(urlconf=key[0]).get_schema(public=True)  # type: ignore[no-untyped-call]
        _built[key] = renderer.render(document, renderer_context={})
    return _built[key]
