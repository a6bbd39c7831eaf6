"""The conversation of a driver with its test: one JSON object a line, many operations at a time.

A line of the test is ``{"id", "do", "params"?, "headers"?}``. The driver prints ``{"id", "event"}`` for each event of a
stream, then ``{"id", "result"}`` or ``{"id", "error": {"name", "code"?, "message"}}``. ``{"do": "drop", "id"}`` closes
the connection of an operation. This module runs in the environments of both official SDKs, without the project.
"""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

Line = dict[str, Any]
Operation = Callable[[Line], AsyncIterator[Any] | Awaitable[Any]]
MOST_BYTES = 64 * 1024 * 1024


def say(**line: Any) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


async def converse(operations: dict[str, Operation]) -> None:
    """Run the operations that stdin names until it ends."""
    reader = asyncio.StreamReader(limit=MOST_BYTES)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    running: dict[int, asyncio.Task[None]] = {}
    while raw := await reader.readline():
        line = json.loads(raw)
        if line["do"] == "drop":
            running[line["id"]].cancel()
        else:
            running[line["id"]] = asyncio.create_task(_run(operations, line))


async def _run(operations: dict[str, Operation], line: Line) -> None:
    try:
        begun = operations[line["do"]](line)
        if isinstance(begun, AsyncIterator):
            async for event in begun:
                say(id=line["id"], event=event)
            say(id=line["id"], result=None)
        else:
            say(id=line["id"], result=await begun)
    except asyncio.CancelledError:
        say(id=line["id"], result="dropped")
    except Exception as problem:  # noqa: BLE001 each problem is an answer to the test
        say(id=line["id"], error=_described(problem))


def _described(problem: Exception) -> Line:
    """Return name, code and text. The older SDK has one class for all errors of JSON-RPC, with the code in it."""
    code = getattr(getattr(problem, "error", None), "code", None)
    return {"name": type(problem).__name__, "code": code, "message": str(problem)}
