"""``a2a mcp``."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import sys
import threading
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

from a2a_hub_client.cli import access
from a2a_hub_client.cli.command import alone, command
from a2a_hub_client.cli.session import Session

if TYPE_CHECKING:
    from a2a_hub_client.cli.bridge import Bridge

PART = 65536  # bytes that one read takes

app = alone()


@command(app)
def mcp(session: Session) -> None:
    """Let a program that starts MCP servers talk to the hub, as the agent of the key.

    Such a program writes messages to stdin and reads answers from stdout, one on each line. The hub has the tools and
    resources: this command passes messages on to its /mcp. Problems are on stderr. The command ends when stdin is
    closed, and at once by SIGTERM. Running requests have 30 seconds to finish after the end of stdin.
    """
    from a2a_hub_client.cli.bridge import Bridge

    credentials = access.credentials_of(session.context)
    bridge = Bridge(session.hub.url, credentials, write=_write, note=session.printer.note)
    with contextlib.suppress(asyncio.CancelledError):
        asyncio.run(_serve(bridge))


async def _serve(bridge: Bridge) -> None:
    """Pass messages on until stdin ends or stdout has no reader. Then no request leases a task for a host that died."""
    serving, loop = asyncio.ensure_future(bridge.run(_lines(sys.stdin.fileno()))), asyncio.get_running_loop()

    def watch() -> None:
        _await_hangup(sys.stdout.fileno())
        with contextlib.suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(serving.cancel)

    if hasattr(select, "poll"):  # not on Windows
        threading.Thread(target=watch, name="a2a mcp stdout", daemon=True).start()
    await serving


def _await_hangup(descriptor: int) -> None:
    """Wait until no process can read what is written to the file. That never happens to a file on a disk."""
    watched = select.poll()
    watched.register(descriptor, 0)  # a hangup is always reported
    watched.poll()


def _write(message: bytes) -> None:
    """Write a message for the host. A host that is gone has closed stdin, too."""
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.buffer.write(message + b"\n")
        sys.stdout.buffer.flush()


async def _lines(descriptor: int) -> AsyncIterator[bytes]:
    """Yield the lines of a file as they come. A thread reads them, which ends with the process."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[bytes | None] = asyncio.Queue()

    def put(line: bytes | None) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(queue.put_nowait, line)

    def read() -> None:
        rest = b""
        with contextlib.suppress(OSError):
            while part := os.read(descriptor, PART):
                *whole, rest = (rest + part).split(b"\n")
                for line in whole:
                    put(line)
        put(rest)
        put(None)

    threading.Thread(target=read, name="a2a mcp stdin", daemon=True).start()
    while (line := await queue.get()) is not None:
        yield line
