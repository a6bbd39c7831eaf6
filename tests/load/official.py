"""Plain clients of the official protocol at a served hub, and workers. They know which process answers them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import httpx
import psutil

from a2a_hub_client import Answer, Retry, TextBlock
from a2a_hub_client import Hub as Client
from tests.load.cast import Pair, pairs
from tests.support.a2a import message
from tests.support.hub import PATIENCE, Hub, wait_until
from tests.support.own_client import client_of

Json = dict[str, Any]
Event = tuple[str, Json]


class BrokenStreamError(Exception):
    """The hub has ended a stream with an error."""


class Stream:
    """The events of an open stream: their ids and results. It ends with the stream, or with `BrokenStreamError`."""

    def __init__(self, response: httpx.Response) -> None:
        self._lines = response.iter_lines()
        self.port = port_of(response)
        self.comments = 0

    def __iter__(self) -> Stream:
        return self

    def __next__(self) -> Event:
        name = ""
        for line in self._lines:
            field, _, value = line.partition(": ")
            if not field and value:
                self.comments += 1
            if field == "id":
                name = value
            if field == "data":
                answer = json.loads(value)
                if "error" in answer:
                    raise BrokenStreamError(answer["error"])
                return name, answer["result"]
        raise StopIteration

    def take(self, count: int) -> list[Event]:
        return [next(self) for _ in range(count)]


class Caller:
    """The sender of a pair, as a client of its worker. Each call has a connection of its own."""

    def __init__(self, hub: Hub, pair: Pair, *, timeout: float = PATIENCE) -> None:
        """``timeout`` is how many seconds the client waits for the next byte."""
        self.pair = pair
        self._hub, self._timeout = hub, timeout
        self._url = f"{hub.url}/agents/{pair.worker.display}/a2a"
        self._headers = {"Authorization": f"Bearer {pair.sender.key}", "A2A-Version": "1.0"}

    def with_timeout(self, seconds: float) -> Caller:
        return Caller(self._hub, self.pair, timeout=seconds)

    def post(self, method: str, params: Json, **headers: str) -> httpx.Response:
        return httpx.post(self._url, json=_body(method, params), headers=self._headers | headers, timeout=self._timeout)

    def rpc(self, method: str, params: Json, **headers: str) -> Json:
        """Return the result of a call."""
        response = self.post(method, params, **headers)
        assert response.status_code == 200, response.text
        result: Json = response.json()["result"]
        return result

    def send(self, text: str = "do it", *, now: bool = True, **members: Any) -> Json:
        """Send a message; return its task. ``now``: do not wait."""
        body = {"message": message(text, **members), "configuration": {"returnImmediately": now}}
        task: Json = self.rpc("SendMessage", body)["task"]
        return task

    @contextmanager
    def begun(self, method: str, params: Json, **headers: str) -> Iterator[httpx.Response]:
        """Yield the response of a call as soon as its head has come. Its body comes as it is read."""
        with (
            httpx.Client(timeout=self._timeout) as client,
            client.stream("POST", self._url, json=_body(method, params), headers=self._headers | headers) as response,
        ):
            yield response

    @contextmanager
    def stream(self, method: str, params: Json, **headers: str) -> Iterator[Stream]:
        with self.begun(method, params, **headers) as response:
            assert response.headers["Content-Type"] == "text/event-stream", response.read()
            yield Stream(response)

    @contextmanager
    def stream_elsewhere(self, than: int, method: str, params: Json, **headers: str) -> Iterator[Stream]:
        """Open a stream in another process of the hub than the one with this id."""
        with ExitStack() as kept:
            opened: list[Stream] = []

            def is_elsewhere() -> bool:
                opened.append(kept.enter_context(self.stream(method, params, **headers)))
                return process_of(self._hub, opened[-1].port) != than

            wait_until(is_elsewhere)
            yield opened[-1]


class Holder:
    """The worker of a pair. Each request is repeated until the hub answers it, since its processes may be killed."""

    def __init__(self, hub: Hub, pair: Pair) -> None:
        self.hub = hub
        self._key = pair.worker.key
        self._client = self._connected()
        self.task = self.lease = ""

    def take(self) -> None:
        (taken,) = self._client.receive().leases
        self.task, self.lease = str(taken.task.id), str(taken.lease.id)

    def make(self, text: str, **fields: Any) -> None:
        artifact = {"artifact_id": "report", "content": text}
        self._client.post_updates(self.task, [{"artifact": artifact, **fields}], lease_id=self.lease)

    def complete(self, *texts: str) -> None:
        """Post the result, with or without content."""
        content = [TextBlock(text) for text in texts]
        self._client.post_result(Answer(task_id=self.task, lease_id=self.lease, content=content))

    def move_elsewhere(self, than: int) -> None:
        """Send the next requests to another process of the hub than the one with this id."""

        def is_elsewhere() -> bool:
            self._client.close()
            self._client = self._connected()
            list(self._client.leases())
            return process_of(self.hub, self._connections.port) != than

        wait_until(is_elsewhere)

    def close(self) -> None:
        self._client.close()

    def _connected(self) -> Client:
        retry = Retry(patience=PATIENCE, first_pause=0.05, longest_pause=0.5)
        self._connections = Connections()
        return client_of(self.hub.url, self._key, retry=retry, transport=self._connections)


class Connections(httpx.HTTPTransport):
    """The connections of a client. ``port`` is the client's port of the last answer."""

    port = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = super().handle_request(request)
        self.port = port_of(response)
        return response


@contextmanager
def talk(hub: Hub, pair: Pair | None = None) -> Iterator[tuple[Caller, Holder]]:
    """Yield a caller and the worker that it calls. Without a pair they are registered."""
    pair = pair or pairs(hub, 1)[0]
    holder = Holder(hub, pair)
    try:
        yield Caller(hub, pair), holder
    finally:
        holder.close()


def _body(method: str, params: Json) -> Json:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def port_of(response: httpx.Response) -> int:
    """Return the client's port of a response's connection."""
    port: int = response.extensions["network_stream"].get_extra_info("client_addr")[1]
    return port


def process_of(hub: Hub, port: int) -> int:
    """Return the id of the hub's process that has the connection from this port."""
    (found,) = [worker.pid for worker in hub.web_workers() if port in _peers(worker)]
    return found


def _peers(worker: psutil.Process) -> list[int]:
    established = [one for one in worker.net_connections("tcp") if one.status == psutil.CONN_ESTABLISHED]
    return [connection.raddr.port for connection in established]


def kill(pid: int) -> None:
    """Kill a process with SIGKILL."""
    psutil.Process(pid).kill()
