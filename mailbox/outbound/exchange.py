"""HTTP to the outside: one pooled client that connects only where `destinations` says it may.

An exchange has one deadline for all it does, names, connection, handshake and body included, and its answer is
at most 1 MiB after decompression, unless a glimpse of it is enough. A redirect is an answer like any other; no proxy, certificate or credential is
taken from the environment.
"""

from __future__ import annotations

import contextlib
import os
import threading
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

import httpcore
import httpx

from mailbox.outbound import connections
from mailbox.outbound.errors import AnswerTooLargeError, NoAnswerError

LARGEST_ANSWER = 1024 * 1024
GLIMPSE_WITHIN = 1.0  # seconds that a body is waited for whose first bytes are enough
KEPT_OPEN = 4.0  # seconds an idle connection is kept: less than servers do, so that none is used as they close it
GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS
_one_at_a_time = threading.Lock()  # threads that ask for the first client together get the same


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a server answered, whole. ``reason`` is its status line's, which may be empty."""

    status: int
    reason: str
    body: bytes

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    @property
    def text(self) -> str:
        return self.body.decode(errors="replace")


def exchange(
    method: str,
    url: str,
    *,
    within: float,
    headers: Mapping[str, str],
    content: bytes | None = None,
    glimpse: int | None = None,
) -> Answer:
    """Send one request and return the answer, all within ``within`` seconds.

    With ``glimpse`` an answer counts as soon as its status and headers are there: its body is what comes within a
    moment of its first so many bytes, as they are sent, and whatever befalls the rest is no failure.
    Raises `BlockedUrlError` before any connection is made, and `NoAnswerError` when there is no
    whole answer in time, `AnswerTooLargeError` when there is one of more than 1 MiB.
    """
    with _one_at_a_time:
        client = _client(os.getpid())
    asked = {"Accept-Encoding": "gzip", **headers}
    try:
        with (
            connections.deadline(within),
            client.stream(method, url, headers=asked, content=content, timeout=within) as response,
        ):
            body = b"".join(_body(response, url)) if glimpse is None else _beginning(response, glimpse)
    except httpx.TimeoutException as error:
        raise NoAnswerError(f"no answer from {url} within {within:g} s") from error
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError, zlib.error) as error:
        raise NoAnswerError(f"no answer from {url}", detail=str(error) or type(error).__name__) from error
    return Answer(status=response.status_code, reason=response.reason_phrase, body=body)


def _body(response: httpx.Response, url: str) -> Iterator[bytes]:
    """Yield the body, never decompressing more at once than is still allowed of it."""
    room = LARGEST_ANSWER
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", "gzip", "x-gzip", "deflate"):
        raise httpx.DecodingError(f"it is encoded as {encoding[:40]}, which was not asked for")
    inflate = None if encoding == "identity" else zlib.decompressobj(GZIP_OR_ZLIB)
    for raw in response.iter_raw():
        data = raw if inflate is None else inflate.decompress(raw, room + 1)
        room -= len(data)
        if room < 0:
            raise AnswerTooLargeError(url, status=response.status_code, limit=LARGEST_ANSWER)
        yield data


def _beginning(response: httpx.Response, size: int) -> bytes:
    found = b""
    with contextlib.suppress(httpx.HTTPError), connections.deadline(GLIMPSE_WITHIN):
        for raw in response.iter_raw():
            found += raw
            if len(found) >= size:
                break
    return found[:size]


@cache
def _client(pid: int) -> httpx.Client:
    """Return the client of this process; a forked one must not share its parent's connections, hence the id."""
    return httpx.Client(transport=_Transport(), follow_redirects=False, trust_env=False)


class _Transport(httpx.HTTPTransport):
    """httpx's own transport, with a pool that connects through the guard."""

    def __init__(self) -> None:
        certificates = httpx.create_ssl_context(trust_env=False)
        super().__init__(verify=certificates, trust_env=False)
        self._pool = httpcore.ConnectionPool(
            ssl_context=certificates,
            max_connections=None,
            max_keepalive_connections=32,
            keepalive_expiry=KEPT_OPEN,
            network_backend=connections.GuardedBackend(),
        )
