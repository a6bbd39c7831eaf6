"""The call of the official protocol that sends a message, as bytes, for many cheap clients in one process."""

import json
import socket
from urllib.parse import urlsplit

from tools.bench.cycles import PATIENCE


def connection(url: str) -> socket.socket:
    """Return a new connection to the server of a JSON-RPC URL."""
    parts = urlsplit(url)
    made = socket.create_connection((parts.hostname or "", parts.port or 80), PATIENCE)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


def head(url: str, key: str) -> str:
    """Return the head of every call of one client, without its end."""
    parts = urlsplit(url)
    names = f"Host: {parts.netloc}\r\nAuthorization: Bearer {key}\r\nA2A-Version: 1.0\r\n"
    return f"POST {parts.path} HTTP/1.1\r\n{names}Content-Type: application/json\r\n"


def call(head: str, method: str, text: str) -> bytes:
    """Return a whole call that sends one message."""
    message = {"messageId": text, "role": "ROLE_USER", "parts": [{"text": text}]}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"message": message}}).encode()
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
