"""HTTP messages on raw sockets, for the proxy: it must see where a message ends, and cut it where it likes."""

import re
import socket
import struct
from typing import NamedTuple, Self

from tests.support.raw_client import framed

RESET_ON_CLOSE = struct.pack("ii", 1, 0)
REQUEST_ID = re.compile(rb"(?i)\r\nx-request-id: *([^\r\n]+)")
UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
AGENT = re.compile(r"(?<=/inboxes/)[^/]+|(?<=^/agents/)[^/]+")
BATCH = 65536


class Message(NamedTuple):
    """A whole request or answer, as bytes."""

    raw: bytes

    @property
    def first_line(self) -> str:
        return self.raw.partition(b"\r\n")[0].decode("latin-1")

    @property
    def route(self) -> str:
        """The method and path of a request, with {id} for an id and {agent} for an inbox's agent."""
        method, target, _ = self.first_line.split(" ", 2)
        return route_of(method, target)

    @property
    def request_id(self) -> str:
        found = REQUEST_ID.search(self.raw)
        return found[1].decode("latin-1") if found else ""


def route_of(method: str, target: str) -> str:
    """Return a method and path as the tables of routes name them."""
    return f"{method} {AGENT.sub('{agent}', UUID.sub('{id}', target.partition('?')[0]))}"


class Wire:
    """A connection that reads whole messages. Raises `OSError` when the other side goes away within one."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self._read = b""

    @classmethod
    def to(cls, address: tuple[str, int], timeout: float) -> Self:
        connection = socket.create_connection(address, timeout)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return cls(connection)

    def receive(self) -> Message | None:
        """Return the next message; None if the other side closed the connection before it."""
        while (found := framed(self._read)) is None:
            if not self._more():
                if b"\r\n\r\n" in self._read:
                    raise ConnectionResetError("the message was cut")
                return None
        _, end = found
        message, self._read = Message(self._read[:end]), self._read[end:]
        return message

    def send(self, data: bytes) -> None:
        self.connection.sendall(data)

    def reset(self) -> None:
        """Close the connection with a reset, as a machine that fails does."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
        self.close()

    def close(self) -> None:
        self.connection.close()

    def _more(self) -> bool:
        read = self.connection.recv(BATCH)
        self._read += read
        return bool(read)
