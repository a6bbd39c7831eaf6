"""The site of the documentation, from the folder that `make site` writes. It has a policy of its own for scripts."""

from __future__ import annotations

import mimetypes
import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from csp.constants import SELF
from csp.decorators import csp_replace
from django.conf import settings
from django.http import HttpResponse, HttpResponseRedirect
from django.utils.cache import get_conditional_response
from django.views.decorators.http import require_safe

if TYPE_CHECKING:
    from django.http import HttpRequest
    from django.http.response import HttpResponseBase

SITE = Path(settings.BASE_DIR) / "site" / "html"
_INLINE = re.compile(rb"<script>(.*?)</script>", re.DOTALL)
_NOT_BUILT = "The documentation of this hub is not built: run `make site`. Its sources have the same pages in `docs`.\n"
_NO_PAGE = "The documentation has no such page. It begins at /docs/.\n"


@require_safe
def manual(request: HttpRequest, path: str) -> HttpResponseBase:
    """Answer with a page or a file of the site. Without it the answer is a 404 that says how to build the site.

    A page may run the scripts that it holds, and no others inline.
    """
    files = {file.relative_to(SITE).as_posix() for file in SITE.rglob("*") if file.is_file()}
    wanted = f"{path}index.html" if path.endswith("/") or not path else path
    if f"{wanted}/index.html" in files:
        return HttpResponseRedirect(f"{request.path}/")
    if wanted not in files:
        return HttpResponse(_NO_PAGE if files else _NOT_BUILT, status=404, content_type="text/plain; charset=utf-8")
    content = (SITE / wanted).read_bytes()
    etag = f'"{sha256(content).hexdigest()[:32]}"'
    media_type = mimetypes.guess_type(wanted)[0] or "application/octet-stream"
    response = HttpResponse(content, media_type, headers={"Cache-Control": "no-cache", "ETag": etag})
    if media_type == "text/html":
        policy = csp_replace({"script-src": [SELF, *_hashes(content)]})
        policy(lambda _: response)(request)
    return get_conditional_response(request, etag=etag, response=response) or response


def _hashes(page: bytes) -> list[str]:
    """Return the sources of a policy that admit the inline scripts of the page."""
    return [f"'sha256-{b64encode(sha256(script).digest()).decode()}'" for script in _INLINE.findall(page)]
