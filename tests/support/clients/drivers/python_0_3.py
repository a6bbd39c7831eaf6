"""The official Python SDK 0.3, driven by lines on stdin: python python_0_3.py BASE_URL. A2A_KEY is the key.

Parameters and answers are the JSON of version 0.3. The client has its default settings but for the key.
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from typing import Any

import httpx
from a2a import types
from a2a.client import A2ACardResolver, ClientCallContext, ClientConfig, ClientFactory
from lines import Line, converse


class Driver:
    def __init__(self, base_url: str) -> None:
        key = os.environ.get("A2A_KEY")
        self.base_url = base_url
        self.http = httpx.AsyncClient(headers={"Authorization": f"Bearer {key}"} if key else {})
        self.clients: dict[bool, Any] = {}

    async def card(self, line: Line) -> Any:
        return _json(await A2ACardResolver(self.http, self.base_url).get_agent_card())

    async def client(self, *, streaming: bool = True) -> Any:
        if streaming not in self.clients:
            config = ClientConfig(httpx_client=self.http, streaming=streaming)
            self.clients[streaming] = await ClientFactory.connect(self.base_url, config)
        return self.clients[streaming]

    async def send(self, line: Line) -> Any:
        client = await self.client(streaming=False)
        (answer,) = [each async for each in client.send_message(**_sent(line))]
        return _json(answer[0] if isinstance(answer, tuple) else answer)

    async def stream(self, line: Line) -> AsyncIterator[Any]:
        client = await self.client()
        async for event in client.send_message(**_sent(line)):
            yield _event(event)

    async def subscribe(self, line: Line) -> AsyncIterator[Any]:
        client = await self.client()
        async for event in client.resubscribe(types.TaskIdParams(**line["params"]), context=_context(line)):
            yield _event(event)

    async def extended(self, line: Line) -> Any:
        client = await self.client()
        return _json(await client.get_card(context=_context(line)))

    def call(self, method: str, shape: Any) -> Any:
        async def operation(line: Line) -> Any:
            client = await self.client()
            return _json(await getattr(client, method)(shape.model_validate(line["params"]), context=_context(line)))

        return operation

    def operations(self) -> dict[str, Any]:
        return {
            "card": self.card,
            "send": self.send,
            "stream": self.stream,
            "subscribe": self.subscribe,
            "extended": self.extended,
            "get": self.call("get_task", types.TaskQueryParams),
            "cancel": self.call("cancel_task", types.TaskIdParams),
            "config_create": self.call("set_task_callback", types.TaskPushNotificationConfig),
            "config_get": self.call("get_task_callback", types.GetTaskPushNotificationConfigParams),
        }


def _sent(line: Line) -> Line:
    given = types.MessageSendParams.model_validate(line["params"])
    return {
        "request": given.message,
        "configuration": given.configuration,
        "request_metadata": given.metadata,
        "context": _context(line),
    }


def _context(line: Line) -> ClientCallContext:
    return ClientCallContext(state={"http_kwargs": {"headers": line["headers"]}} if line.get("headers") else {})


def _event(event: Any) -> Any:
    """Return the event itself: the SDK gives the task that it folded beside it."""
    return _json((event[1] or event[0]) if isinstance(event, tuple) else event)


def _json(answer: Any) -> Any:
    return None if answer is None else answer.model_dump(mode="json", by_alias=True, exclude_none=True)


if __name__ == "__main__":
    asyncio.run(converse(Driver(*sys.argv[1:]).operations()))
