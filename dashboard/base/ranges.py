"""A range of the bytes of a response, by which a player seeks in a sound.

Source: RFC 9110, "Range Requests".
"""

from __future__ import annotations

import re
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse

_ONE = re.compile(r"bytes=[ \t]*(\d{0,18})-(\d{0,18})[ \t]*", re.ASCII | re.IGNORECASE)


def cut(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Cut the content of a response of 200 to the range that the request asks for; return the response.

    The status is then 206, or 416 without content for a range behind the end. The response stays whole for several
    ranges, for a malformed range, and for a method other than GET. It stays whole for a request with If-Range too,
    since the response has no validator that could match.
    """
    response["Accept-Ranges"] = "bytes"
    asked = _ONE.fullmatch(request.headers.get("Range", ""))
    if asked is None or request.method != "GET" or "If-Range" in request.headers:
        return response
    size = len(response.content)
    found = _range(asked[1], asked[2], size)
    if found is None:
        return response
    if found:
        response.status_code, named = HTTPStatus.PARTIAL_CONTENT, f"{found.start}-{found.stop - 1}"
    else:
        response.status_code, named = HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE, "*"
    response.content = response.content[found.start : found.stop]
    response["Content-Range"] = f"bytes {named}/{size}"
    return response


def _range(first: str, last: str, size: int) -> range | None:
    """Return the places of these bytes among ``size`` bytes, an empty range behind the end; None if malformed.

    Without ``first``, ``last`` is the number of bytes at the end.
    """
    if not first:
        return range(max(0, size - int(last)), size) if last else None
    if last and int(last) < int(first):
        return None
    return range(int(first), min(int(last) + 1, size) if last else size)
