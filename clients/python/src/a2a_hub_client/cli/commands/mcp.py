"""``a2a mcp``: messages of the Model Context Protocol go to a hub as they are, and its answers come back.

A message is one line of JSON-RPC. Each request is an exchange with the hub of its own, so that a wait holds up no
other. A cancelled request ends its exchange, by which the hub notices it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import select
import sys
import threading
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard
from uuid import uuid4

from a2a_hub_client.cli import contexts
from a2a_hub_client.cli.command import Session, alone, command

if TYPE_CHECKING:
    import httpx

    from a2a_hub_client.credentials import Credentials

FAILED, NO_JSON, NO_MESSAGE = -32000, -32700, -32600  # codes of JSON-RPC
TO_CONNECT = 10.0  # seconds
SILENCE = 75.0  # seconds; a hub that holds a call says something at least each minute
TO_END = 30.0  # seconds for the running requests after the last message
MAY_BE_DONE = "The hub may have done what was requested."
TAKEN = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
PART = 65536  # bytes that one read takes

Message = Mapping[str, Any]
MessageId = str | int


class Bridge:
    """Passes the messages of one host on to one hub.

    ``write`` gets each message for the host, without its line feed. ``note`` gets sentences for the log.
    """

    def __init__(
        self, url: str, credentials: Credentials, *, write: Callable[[bytes], None], note: Callable[[str], None]
    ) -> None:
        self._url = f"{url}/mcp"
        self._credentials = credentials
        self._write = write
        self._note = note
        self._running: set[asyncio.Task[None]] = set()
        self._by_id: dict[MessageId, asyncio.Task[None]] = {}  # of the requests that the host waits for

    async def run(self, lines: AsyncIterator[bytes]) -> None:
        """Pass on the messages until there are no more. Requests that run for long after that get an error.

        A cancelled call ends its requests without an answer.
        """
        import httpx

        limits = httpx.Limits(max_connections=None)
        async with httpx.AsyncClient(timeout=httpx.Timeout(SILENCE, connect=TO_CONNECT), limits=limits) as http:
            try:
                async for line in lines:
                    if line.strip():
                        self._take(http, line)
                if self._running:
                    await asyncio.wait(self._running, timeout=TO_END)
                if cut := [one for one, task in self._by_id.items() if not task.done()]:
                    self._fail(cut, f"no answer within {TO_END:g} s of the end of stdin. {MAY_BE_DONE}")
            finally:
                for task in self._running:
                    task.cancel()
                await asyncio.gather(*self._running, return_exceptions=True)

    def _take(self, http: httpx.AsyncClient, line: bytes) -> None:
        """Begin the exchange of a message, or end that of the request that it cancels."""
        try:
            message = json.loads(line)
        except (ValueError, RecursionError) as error:
            self._fail([None], f"the message is no JSON: {error}", code=NO_JSON)
            return
        if not isinstance(message, (dict, list)):
            self._fail([None], "the message is no JSON object", code=NO_MESSAGE)
            return
        if isinstance(message, dict) and message.get("method") == "notifications/cancelled":
            self._cancel(message.get("params"))
            return
        task = asyncio.ensure_future(self._exchange(http, message))
        self._running.add(task)
        for one in _ids(message):
            self._by_id[one] = task
        task.add_done_callback(self._forget)

    def _cancel(self, params: object) -> None:
        wanted = params.get("requestId") if isinstance(params, dict) else None
        if _is_id(wanted) and wanted in self._by_id:
            task = self._by_id[wanted]
            self._settle(task)
            task.cancel()

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._settle(task)

    def _settle(self, task: asyncio.Task[Any] | None) -> None:
        """Forget the ids of a task. The host waits for no answer to them any more."""
        self._by_id = {one: other for one, other in self._by_id.items() if other is not task}

    async def _exchange(self, http: httpx.AsyncClient, message: Message | Sequence[Any]) -> None:
        """Send a message, and write what the hub answers: an error if there is no answer."""
        import httpx

        ids, (sent, own_token) = _ids(message), _with_token(message)
        body = _body(sent)
        try:
            signed = self._credentials.headers(method="POST", url=self._url, body=body)
            async with http.stream("POST", self._url, content=body, headers={**TAKEN, **signed}) as response:
                if response.headers.get("Content-Type", "").startswith("text/event-stream"):
                    is_answered = await self._pass_events(response, own_token)
                else:
                    is_answered = self._pass(ids, await response.aread())
                if is_answered:
                    self._settle(asyncio.current_task())
            if ids and not is_answered:
                self._fail(ids, f"{self._url} answered {response.status_code}, and nothing else")
        except httpx.ConnectError as error:
            self._fail(
                ids, f"cannot connect to {self._url}: {error}. Check that the hub runs; `a2a doctor` looks closer."
            )
        except httpx.HTTPError as error:
            why = str(error) or type(error).__name__
            self._fail(ids, f"no answer from {self._url}: {why}. {MAY_BE_DONE}")
        except Exception as error:  # noqa: BLE001 (the host waits for an answer)
            self._fail(ids, f"the bridge failed: {type(error).__name__}: {error}")

    async def _pass_events(self, response: httpx.Response, own_token: str | None) -> bool:
        """Write the messages of a stream as they come, up to the answer. Return whether there is one."""
        async for event in _events(response):
            message = json.loads(event)
            if own_token is not None and _token_of(message.get("params")) == own_token:
                continue
            self._write(event)
            if "method" not in message:
                return True
        return False

    def _pass(self, ids: Sequence[MessageId], body: bytes) -> bool:
        """Write the hub's answer. Return whether it is one. A refusal without an id is that of each request."""
        try:
            answer = json.loads(body)
        except ValueError:
            return False
        if isinstance(answer, dict) and "error" in answer and answer.get("id") is None:
            for one in ids:
                self._write(json.dumps({**answer, "id": one}).encode())
            if not ids:
                self._note(f"{self._url} refused a notification: {json.dumps(answer['error'])}")
        elif ids and isinstance(answer, (dict, list)):
            self._write(body.replace(b"\r", b" ").replace(b"\n", b" "))
        else:
            return False
        return True

    def _fail(self, ids: Sequence[MessageId | None], why: str, *, code: int = FAILED) -> None:
        self._note(why)
        for one in ids:
            error = {"code": code, "message": why}
            self._write(json.dumps({"jsonrpc": "2.0", "id": one, "error": error}).encode())


def _body(message: Any) -> bytes:
    """Return the message as JSON, as short as the host can have written it. The hub limits its size."""
    try:
        return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return json.dumps(message, separators=(",", ":")).encode()


def _ids(message: Message | Sequence[Any]) -> list[MessageId]:
    """Return the ids of the requests in a message or a batch."""
    messages = [message] if isinstance(message, Mapping) else message
    calls = [one for one in messages if isinstance(one, dict) and "method" in one]
    return [one["id"] for one in calls if _is_id(one.get("id"))]


def _is_id(value: object) -> TypeGuard[MessageId]:
    return isinstance(value, (str, int))


def _with_token(message: Any) -> tuple[Any, str | None]:
    """Return the message with a token of progress, and that token; None if it has one or needs none.

    The hub answers a call with a token by a stream. So the hub notices at once that a call was cancelled, and the
    bridge that the hub has gone.
    """
    params = message.get("params") if isinstance(message, dict) else None
    if not isinstance(params, dict) or message.get("method") != "tools/call":
        return message, None
    meta = params.get("_meta", {})
    if not isinstance(meta, dict) or "progressToken" in meta:
        return message, None
    token = f"a2a-mcp-{uuid4()}"
    return {**message, "params": {**params, "_meta": {**meta, "progressToken": token}}}, token


def _token_of(params: object) -> object:
    return params.get("progressToken") if isinstance(params, dict) else None


async def _events(response: httpx.Response) -> AsyncIterator[bytes]:
    """Yield the data of the events. The hub writes each message on one line."""
    rest = b""
    async for part in response.aiter_bytes():
        *lines, rest = (rest + part).split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                yield line.removeprefix(b"data:").strip()


mcp_app = alone()


@command(mcp_app)
def mcp(session: Session) -> None:
    """Let a program that starts MCP servers talk to the hub, as the agent of the key.

    Such a program writes messages to stdin and reads answers from stdout, one on each line. The hub has the tools and
    resources: this command passes messages on to its /mcp. Problems are on stderr. The command ends when stdin is
    closed, and at once by SIGTERM. Running requests have 30 seconds to finish after the end of stdin.
    """
    credentials = contexts.credentials_of(session.context)
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
