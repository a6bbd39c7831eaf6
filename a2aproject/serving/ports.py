"""The port of the web server: that of the settings once it is free, or a port that the system chooses."""

from __future__ import annotations

import errno
import os
import socket
import time

from django.conf import settings
from django.core.management.base import CommandError

from a2aproject.settings import edge

PATIENCE = 15.0  # seconds
PAUSE = 0.2  # seconds between two looks at a port in use


def wait_until_free(host: str, port: int) -> None:
    """Wait until the port is free, at most `PATIENCE` seconds: a killed hub needs some to end.

    Raise `CommandError` for a port that stays in use, before the database changes. The web server itself would
    share it.
    """
    give_up_at = time.monotonic() + PATIENCE
    while not (is_free := _is_free(host, port)) and time.monotonic() < give_up_at:
        time.sleep(PAUSE)
    if not is_free:
        raise CommandError(f"Port {port} on {host} is in use. Stop the other program, or set PORT.")


def choose(host: str) -> None:
    """Let the system choose the hub's port, for this process and the programs that it starts.

    A socket keeps the port until the supervisor ends, also while no web server runs. The web server shares it.
    """
    try:
        keeper, address = _socket(host, 0)
        with keeper:
            keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            keeper.bind(address)
            port = keeper.getsockname()[1]
            os.set_inheritable(keeper.detach(), True)  # this process turns into the supervisor
    except OSError as error:
        raise CommandError(f"Cannot listen on {host}: {error}. Set BIND_HOST.") from error
    os.environ["PORT"] = str(port)
    if edge.own_url(0) == settings.PUBLIC_URL:
        settings.PUBLIC_URL = edge.own_url(port)
    settings.PORT = port


def _is_free(host: str, port: int) -> bool:
    """Whether no program listens on the port. Raise `CommandError` for an address that no program can listen on."""
    try:
        probe, address = _socket(host, port)
        with probe:
            probe.bind(address)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            return False
        raise CommandError(f"Cannot listen on {host}:{port}: {error}. Set BIND_HOST and PORT.") from error
    return True


def _socket(host: str, port: int) -> tuple[socket.socket, tuple[object, ...]]:
    """Return a socket that is not bound yet, and the address to bind it to."""
    family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    made = socket.socket(family, kind)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    return made, address
