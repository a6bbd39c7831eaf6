"""Connects servers and clients of one test in memory: a connection is a pair of sockets, and no port is taken.

A listener of a test without the marker `processes` is the end of a pair. Its other end is the listener's door. A
connection sends one end of a new pair through the door, and the listener accepts it. The system does the rest: waits,
time-outs, hang-ups and TLS are those of real sockets. Nothing listens on any other port of this machine.
"""

import _socket
import errno
import itertools
import os
import socket
import sys
from typing import Any

from tests.support.chance import guard

CLIENT = ("127.0.0.1", 1)  # the address of every client
CONNECTED = "tests.connected"  # the audit event of a connection in memory

_ports = itertools.count(1024)
_doors: dict[int, tuple[Any, socket.socket]] = {}  # the address and the door of each listener, by its inode


def _bind(self: socket.socket, address: Any) -> None:
    if not (guard.is_on and _is_of_this_machine(self, address)):
        return _socket.socket.bind(self, address)
    address = (address[0], address[1] or next(_ports), *address[2:])
    if _door(address):
        raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))
    listener, door = socket.socketpair(type=socket.SOCK_SEQPACKET)
    _doors[_inode(listener)] = address, door
    return _become(self, listener)


def _listen(self: socket.socket, *backlog: int) -> None:
    if not _is_in_memory(self):
        _socket.socket.listen(self, *backlog)


def _connect(self: socket.socket, address: Any) -> None:
    if not _is_of_this_machine(self, address):
        return _socket.socket.connect(self, address)
    door = _door(address)
    if not (door or guard.is_on):
        return _socket.socket.connect(self, address)
    sys.audit(CONNECTED, self, address)
    mine, other = socket.socketpair()
    with other:
        if not (door and _passes(door, other)):
            mine.close()
            raise ConnectionRefusedError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))
    return _become(self, mine)


def _accept(self: socket.socket) -> tuple[int, Any]:
    if not _is_in_memory(self):
        return _socket.socket._accept(self)  # type: ignore[attr-defined, no-any-return]
    _, connections, _, _ = socket.recv_fds(self, 1, 1)
    if not connections:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))  # the listener was shut down
    return connections[0], CLIENT


def _getsockname(self: socket.socket) -> Any:
    if not _is_in_memory(self):
        return _socket.socket.getsockname(self)
    return _doors.get(_inode(self), (CLIENT, None))[0]


def _getpeername(self: socket.socket) -> Any:
    found = _socket.socket.getpeername(self)
    return CLIENT if _is_in_memory(self) else found


def _setsockopt(self: socket.socket, level: int, *option: Any) -> None:
    if level != socket.IPPROTO_TCP or not _is_in_memory(self):
        _socket.socket.setsockopt(self, level, *option)


def _real_close(self: socket.socket) -> None:
    if _is_in_memory(self) and (found := _doors.pop(_inode(self), None)):
        found[1].close()
    _socket.socket.close(self)


def _is_of_this_machine(sock: socket.socket, address: Any) -> bool:
    if sock.type != socket.SOCK_STREAM or sock.family not in (socket.AF_INET, socket.AF_INET6):
        return False
    return bool(address[0] == "::1" or address[0].startswith("127."))


def _is_in_memory(sock: socket.socket) -> bool:
    """Whether the system's socket is of another family than the program has chosen."""
    if sock.family not in (socket.AF_INET, socket.AF_INET6) or sock.fileno() < 0:
        return False
    return _socket.socket.getsockopt(sock, socket.SOL_SOCKET, socket.SO_DOMAIN) == socket.AF_UNIX


def _inode(sock: socket.socket) -> int:
    return os.fstat(sock.fileno()).st_ino


def _door(address: Any) -> socket.socket | None:
    return next((door for bound, door in [*_doors.values()] if bound[:2] == address[:2]), None)


def _passes(door: socket.socket, end: socket.socket) -> bool:
    """Send the end of a pair to a listener. A listener that was closed or shut down gets nothing."""
    try:
        return bool(socket.send_fds(door, [b"+"], [end.fileno()]))
    except OSError:
        return False


def _become(sock: socket.socket, end: socket.socket) -> None:
    """Let ``sock`` be the given end of a pair, and wait as long as before."""
    os.dup2(end.fileno(), sock.fileno(), inheritable=False)
    end.close()
    os.set_blocking(sock.fileno(), sock.gettimeout() is None)


def install() -> None:
    for method in (_bind, _listen, _connect, _getsockname, _getpeername, _setsockopt):
        setattr(socket.socket, method.__name__.removeprefix("_"), method)
    for method in (_accept, _real_close):
        setattr(socket.socket, method.__name__, method)


install()
