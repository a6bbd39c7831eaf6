"""Outbound HTTP requests through one pooled client, which connects only to addresses that `destinations` allows.

One deadline bounds the whole exchange: name resolution, connection, handshake, request and body. The size of an answer
is bounded too, after decompression; the usual bound is 1 MiB. Redirects are not followed. The client reads no proxy,
certificate or credential from the environment.
"""

import contextlib
import math
import os
import queue
import select
import socket
import ssl
import threading
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from functools import cache
from http.cookiejar import CookieJar
from time import monotonic
from typing import Any

import httpcore
import httpx

from mailbox.outbound import destinations
from mailbox.outbound.errors import AnswerTooLargeError, NoAnswerError, NotReachedError

_gives_up_at: ContextVar[float] = ContextVar("gives_up_at")
LARGEST_ANSWER = 1024 * 1024
GLIMPSE_WITHIN = 1.0  # seconds to wait for the first bytes of a body
KEPT_OPEN = 4.0  # seconds to keep an idle connection: less than servers do, so that they do not close it in use
GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS
_client_lock = threading.Lock()  # so that all threads share the first client


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Bound all waits of connections in this block: they end ``seconds`` from now, or at an outer block's deadline."""
    token = _gives_up_at.set(min(monotonic() + seconds, _gives_up_at.get(math.inf)))
    try:
        yield
    finally:
        _gives_up_at.reset(token)


class GuardedBackend(httpcore.NetworkBackend):
    """Connects to exactly the addresses that were checked. Host header and TLS server name stay those of the URL."""

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        with _errors(httpcore.ConnectTimeout, httpcore.ConnectError):
            return DeadlineStream(_connected(_addresses(host, port), port))

    def connect_unix_socket(self, *_: Any, **__: Any) -> httpcore.NetworkStream:
        raise httpcore.UnsupportedProtocol("the hub calls other hosts over TCP only")


class DeadlineStream(httpcore.NetworkStream):
    """A connected socket. It ignores the timeouts of single reads and writes; `deadline` bounds them all."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        with _errors(httpcore.ReadTimeout, httpcore.ReadError):
            self._sock.settimeout(_remaining())
            return self._sock.recv(max_bytes)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        with _errors(httpcore.WriteTimeout, httpcore.WriteError):
            while buffer:
                self._sock.settimeout(_remaining())
                buffer = buffer[self._sock.send(buffer) :]

    def close(self) -> None:
        self._sock.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        try:
            with _errors(httpcore.ConnectTimeout, httpcore.ConnectError):
                self._sock.settimeout(_remaining())
                return DeadlineStream(ssl_context.wrap_socket(self._sock, server_hostname=server_hostname))
        except BaseException:
            self.close()
            raise

    def get_extra_info(self, info: str) -> Any:
        return self._has_ended() if info == "is_readable" else None

    def _has_ended(self) -> bool:
        """Whether the server has closed an idle connection: only then is there something to read."""
        if self._sock.fileno() < 0:
            return True
        poller = select.poll()
        poller.register(self._sock, select.POLLIN)
        return bool(poller.poll(0))


def _connected(addresses: Sequence[destinations.Address], port: int) -> socket.socket:
    """Connect to the first address that answers. Each address gets an equal share of the remaining time."""
    failure = OSError("the host has no address")
    for number, address in enumerate(addresses):
        sock = socket.socket(socket.AF_INET if address.version == 4 else socket.AF_INET6, socket.SOCK_STREAM)
        try:
            sock.settimeout(_remaining() / (len(addresses) - number))
            sock.connect((str(address), port))
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except OSError as error:
            sock.close()
            failure = error
        else:
            return sock
    raise failure


def _addresses(host: str, port: int) -> Sequence[destinations.Address]:
    """Call `destinations.addresses` within the deadline, in a thread: the system's resolver has no timeout."""
    answer: queue.SimpleQueue[Sequence[destinations.Address] | Exception] = queue.SimpleQueue()

    def resolve() -> None:
        try:
            answer.put(destinations.addresses(host, port))
        except Exception as error:  # noqa: BLE001 (raised again below)
            answer.put(error)

    try:
        threading.Thread(target=copy_context().run, args=(resolve,), daemon=True).start()
        resolved = answer.get(timeout=_remaining())
    except queue.Empty:
        raise TimeoutError(f"resolving {host} took too long") from None
    except RuntimeError as error:
        raise OSError(f"no thread can be started to resolve {host}") from error
    if isinstance(resolved, Exception):
        raise resolved
    return resolved


def _remaining() -> float:
    left = _gives_up_at.get() - monotonic()
    if left <= 0:
        raise TimeoutError("the deadline has passed")
    return left


@contextmanager
def _errors(timeout: type[Exception], failure: type[Exception]) -> Iterator[None]:
    try:
        yield
    except TimeoutError as error:
        raise timeout(str(error)) from error
    except (OSError, UnicodeError) as error:
        raise failure(str(error)) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerResponse:
    """A server's answer. ``reason`` is the text of its status line; it may be ""."""

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
    largest: int = LARGEST_ANSWER,
) -> ServerResponse:
    """Send one request and return the answer, all within ``within`` seconds.

    Without ``glimpse`` the answer is read whole. With it, the answer is complete once its status and headers are
    there. Its body is then at most its first ``glimpse`` bytes, without decompression, as far as they arrive within
    a second; errors while reading them are ignored.
    Raises `BlockedUrlError` before any connection is made. Raises `NotReachedError` if no connection or TLS session was
    made: no byte of the request was sent. Raises `NoAnswerError` if the answer is not complete in time, and
    `AnswerTooLargeError` if its body is larger than ``largest`` bytes.
    """
    with begun(method, url, within=within, headers=headers, content=content) as response:
        body = b"".join(body_of(response, url, largest)) if glimpse is None else _beginning(response, glimpse)
    return ServerResponse(status=response.status_code, reason=response.reason_phrase, body=body)


@contextlib.contextmanager
def begun(
    method: str, url: str, *, within: float, headers: Mapping[str, str], content: bytes | None
) -> Iterator[httpx.Response]:
    """Send one request, and yield the response once its headers are there. ``within`` bounds the whole block.

    Raises as `exchange` does, also for failures in the block that reads the body.
    """
    with _client_lock:
        client = _client(os.getpid())
    sent = {"Accept-Encoding": "gzip", **headers}
    try:
        with (
            deadline(within),
            client.stream(method, url, headers=sent, content=content, timeout=within) as response,
        ):
            yield response
    except httpx.ConnectTimeout as error:
        raise NotReachedError(f"no answer from {url} within {within:g} s", timed_out=True) from error
    except httpx.ConnectError as error:
        raise NotReachedError(f"no answer from {url}", detail=str(error) or type(error).__name__) from error
    except httpx.TimeoutException as error:
        raise NoAnswerError(f"no answer from {url} within {within:g} s", timed_out=True) from error
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError, zlib.error) as error:
        raise NoAnswerError(f"no answer from {url}", detail=str(error) or type(error).__name__) from error


def body_of(response: httpx.Response, url: str, largest: int) -> Iterator[bytes]:
    """Yield the decompressed body of a response that has `begun`, as it comes; raise beyond ``largest`` bytes.

    A decompression step never produces more than the size limit leaves, plus 1 byte.
    """
    remaining = largest
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", "gzip", "x-gzip", "deflate"):
        raise httpx.DecodingError(f"unsupported content encoding {encoding[:40]}")
    inflate = None if encoding == "identity" else zlib.decompressobj(GZIP_OR_ZLIB)
    for raw in response.iter_raw():
        data = raw if inflate is None else inflate.decompress(raw, remaining + 1)
        remaining -= len(data)
        if remaining < 0:
            raise AnswerTooLargeError(url, status=response.status_code, limit=largest)
        yield data
    if inflate is not None and response.num_bytes_downloaded and not inflate.eof:
        raise httpx.DecodingError("the compressed answer ends early")


def _beginning(response: httpx.Response, size: int) -> bytes:
    data = b""
    with contextlib.suppress(httpx.HTTPError), deadline(GLIMPSE_WITHIN):
        for raw in response.iter_raw():
            data += raw
            if len(data) >= size:
                break
    return data[:size]


@cache
def _client(pid: int) -> httpx.Client:
    """Return this process's client. A forked process must not share its parent's connections, hence the ``pid``."""
    return httpx.Client(transport=_Transport(), follow_redirects=False, trust_env=False, cookies=_NoCookies())


class _NoCookies(CookieJar):
    """Takes no cookie and sends none: the calls of one sender must leave nothing behind for those of another."""

    def extract_cookies(self, response: object, request: object) -> None:
        """Leave the answer's cookies unread, because even reading thousands of them takes seconds."""

    def add_cookie_header(self, request: object) -> None:
        """Leave the request without a Cookie header."""


class _Transport(httpx.HTTPTransport):
    """httpx's transport, with a connection pool that uses `GuardedBackend`."""

    def __init__(self) -> None:
        certificates = httpx.create_ssl_context(trust_env=False)
        super().__init__(verify=certificates, trust_env=False)
        self._pool = httpcore.ConnectionPool(
            ssl_context=certificates,
            max_connections=None,
            max_keepalive_connections=32,
            keepalive_expiry=KEPT_OPEN,
            network_backend=GuardedBackend(),
        )
