"""Connections to checked addresses only. One deadline bounds all waits of an exchange."""

from __future__ import annotations

import math
import queue
import select
import socket
import ssl
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from time import monotonic
from typing import Any

import httpcore

from mailbox.outbound import destinations
from mailbox.outbound.destinations import Address

_gives_up_at: ContextVar[float] = ContextVar("gives_up_at")


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


def _connected(addresses: Sequence[Address], port: int) -> socket.socket:
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


def _addresses(host: str, port: int) -> Sequence[Address]:
    """Call `destinations.addresses` within the deadline, in a thread: the system's resolver has no timeout."""
    answer: queue.SimpleQueue[Sequence[Address] | Exception] = queue.SimpleQueue()

    def resolve() -> None:
        try:
            answer.put(destinations.addresses(host, port))
        except Exception as error:  # noqa: BLE001 (raised again below)
            answer.put(error)

    threading.Thread(target=copy_context().run, args=(resolve,), daemon=True).start()
    try:
        found = answer.get(timeout=_remaining())
    except queue.Empty:
        raise TimeoutError(f"resolving {host} took too long") from None
    if isinstance(found, Exception):
        raise found
    return found


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
